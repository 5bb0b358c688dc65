// An issuer on loopback, by oidc-provider: `node issuer.mjs PORT AUDIENCE PAGE CALLBACK`.
// PAGE is the address of the review page, CALLBACK that of the clients of the protocol. Whoever is
// sent here is signed in as the `login_hint`, or as who was named at /as/NAME. /groups/NAME/A,B sets
// the groups of a person from then on. Prints `ready` when it listens.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// The package lies where this is run.
const require = createRequire(`${process.cwd()}/`)
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')))
const [port, audience, page, callback] = process.argv.slice(2)
const issuer = `http://localhost:${port}`
const groups = new Map([['ann', ['docs-team']], ['bob', ['reviewers']], ['eve', []]])
let next = 'ann'

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'agents', token_endpoint_auth_method: 'none', application_type: 'native',
      redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    },
    {
      client_id: 'review-page', client_secret: 'a secret of the page that only the two know',
      redirect_uris: [`${page}/review/signed-in`], post_logout_redirect_uris: [`${page}/review`],
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    },
  ],
  scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
  claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
  conformIdTokenClaims: false,
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id, name: id, preferred_username: id, email: `${id}@example.com`, email_verified: true, groups: groups.get(id) ?? [],
    }),
  }),
  // Whoever asks for a refresh token gets one, and another one with each use.
  issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
  extraTokenClaims: (_, token) => ({ groups: groups.get(token.accountId) ?? [], name: token.accountId }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  // Nobody is asked: who was named is signed in, and agrees to all that the client asks for.
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (context, client) => (client.clientId === 'agents' ? audience : undefined),
      getResourceServerInfo: () => ({
        scope: 'wiki:read wiki:write', audience, accessTokenTTL: 3600, accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
      useGrantedResource: () => true,
    },
  },
  ttl: { AccessToken: 3600, AuthorizationCode: 60, IdToken: 3600, Interaction: 600, Session: 86400, Grant: 86400, RefreshToken: 86400 },
  pkce: { required: () => true },
  cookies: { keys: ['keys of a test'] },
})

provider.use(async (context, after) => {
  const [, what, name, list] = context.path.split('/')
  if (what === 'as') {
    next = name
    context.body = 'as said'
  } else if (what === 'groups') {
    groups.set(name, (list ?? '').split(',').filter(Boolean))
    context.body = 'as said'
  } else if (what === 'interaction') {
    const { req, res } = context
    const details = await provider.interactionDetails(req, res)
    const account = details.session?.accountId ?? details.params.login_hint ?? next
    const grant = new provider.Grant({ accountId: account, clientId: details.params.client_id })
    grant.addOIDCScope('openid offline_access profile email groups')
    grant.addResourceScope(audience, 'wiki:read wiki:write')
    const result = { login: { accountId: account }, consent: { grantId: await grant.save() } }
    await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true })
    context.respond = false
  } else {
    await after()
  }
})
provider.listen(Number(port), 'localhost', () => console.log('ready'))
