//! Names the reasons why a token does not count.

/// The reason why a token does not count. None repeats anything of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenFault {
    /// It is larger than any real one.
    TooLarge,
    /// It is no signed token.
    Malformed,
    /// Its head asks for an extension.
    Critical,
    /// Its key is not for its algorithm, or nothing is.
    Algorithm,
    /// No key of the issuer has its id.
    UnknownKey,
    /// The signature is wrong.
    Signature,
    /// It is another issuer's.
    Issuer,
    /// It was made for somebody else.
    Audience,
    /// It is another kind of token.
    Kind,
    /// Its time is up.
    Expired,
    /// Its time has not come.
    NotYet,
    /// It says no end, or one too far away.
    NoEnd,
    /// It names nobody.
    NoSubject,
    /// Its client has to prove that it holds a key.
    Bound,
    /// It belongs to another sign-in.
    Nonce,
    /// No key set could be fetched, and none is recent enough.
    IssuerAway,
}

impl TokenFault {
    /// One fragment about it.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::TooLarge => "the token is larger than 16 kB",
            Self::Malformed => "this is no signed token (JWT) of the issuer",
            Self::Critical => "the token's head has crit, which is not supported",
            Self::Algorithm => "the token's algorithm is not one of its key's",
            Self::UnknownKey => {
                "the token is signed with a key that is not in the issuer's key set"
            }
            Self::Signature => "the token's signature is wrong",
            Self::Issuer => {
                "the token is of another issuer than this server's; a key of the wiki goes into X-Wiki-Api-Token, where this server takes keys of callers"
            }
            Self::Audience => {
                "the token was made for another audience; ask the issuer for one for this server"
            }
            Self::Kind => "this kind of token (typ) does not count here",
            Self::Expired => "the token has expired",
            Self::NotYet => "the token does not count yet",
            Self::NoEnd => "the token must end within two days",
            Self::NoSubject => "the token names no subject",
            Self::Bound => {
                "the token is bound to a key of its client (cnf), which is not supported"
            }
            Self::Nonce => "the token belongs to another sign-in",
            Self::IssuerAway => {
                "the issuer does not answer, so that nobody's token can be verified"
            }
        }
    }
}
