//! Names the reasons why a token does not count.

use crate::words::words;

words! {
    /// The reason why a token does not count. None repeats anything of the token.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TokenFault: message {
        /// It is larger than any real one.
        TooLarge = "the token is larger than 16 kB",
        /// It is no signed token.
        Malformed = "this is no signed token (JWT) of the issuer",
        /// Its head asks for an extension.
        Critical = "the token's head has crit, which is not supported",
        /// Its key is not for its algorithm, or nothing is.
        Algorithm = "the token's algorithm is not one of its key's",
        /// No key of the issuer has its id.
        UnknownKey = "the token is signed with a key that is not in the issuer's key set",
        /// The signature is wrong.
        Signature = "the token's signature is wrong",
        /// It is another issuer's.
        Issuer = "the token is of another issuer than this server's; a key of the wiki goes into X-Wiki-Api-Token, where this server takes keys of callers",
        /// It was made for somebody else.
        Audience = "the token was made for another audience; ask the issuer for one for this server",
        /// It is another kind of token.
        Kind = "this kind of token (typ) does not count here",
        /// Its time is up.
        Expired = "the token has expired",
        /// Its time has not come.
        NotYet = "the token does not count yet",
        /// It says no end, or one too far away.
        NoEnd = "the token must end within two days",
        /// It names nobody.
        NoSubject = "the token names no subject",
        /// Its client has to prove that it holds a key.
        Bound = "the token is bound to a key of its client (cnf), which is not supported",
        /// It belongs to another sign-in.
        Nonce = "the token belongs to another sign-in",
        /// No key set could be fetched, and none is recent enough.
        IssuerAway = "the issuer does not answer, so that nobody's token can be verified",
    }
}
