// The official TypeScript SDK with its own OAuth flow, by a client that the issuer knows before:
// `node client.mjs SERVER CALLBACK NAME`. NAME signs in.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

// The SDK lies where this is run.
const require = createRequire(`${process.cwd()}/`)
const { Client } = require('@modelcontextprotocol/sdk/client/index.js')
const { UnauthorizedError } = require('@modelcontextprotocol/sdk/client/auth.js')
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js')
const [server, callback, name] = process.argv.slice(2)

// What a browser does on the way to the callback; the issuer asks nothing.
async function signIn(address) {
  const cookies = new Map()
  let at = new URL(address)
  at.searchParams.set('login_hint', name)
  for (let hops = 0; hops < 10; hops += 1) {
    if (at.href.startsWith(callback)) return at.searchParams.get('code')
    const cookie = [...cookies].map(([key, value]) => `${key}=${value}`).join('; ')
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, key, value] = /^([^=]+)=([^;]*)/.exec(line)
      cookies.set(key, value)
    }
    assert(answer.headers.has('location'), await answer.text())
    at = new URL(answer.headers.get('location'), at)
  }
  throw new Error(`no way from ${address} to ${callback}`)
}

let code, tokens, verifier, asked
const provider = {
  redirectUrl: callback,
  clientMetadata: { redirect_uris: [callback], token_endpoint_auth_method: 'none' },
  clientInformation: () => ({ client_id: 'agents' }),
  tokens: () => tokens,
  saveTokens: (got) => { tokens = got },
  codeVerifier: () => verifier,
  saveCodeVerifier: (made) => { verifier = made },
  redirectToAuthorization: async (address) => {
    asked = address
    code = await signIn(address)
  },
}

async function step(step, act) {
  try {
    await act()
    console.log(`passed ${step}`)
  } catch (error) {
    console.log(`failed ${step}: ${String(error).replaceAll('\n', ' ')}`)
  }
}

const transport = () => new StreamableHTTPClientTransport(new URL(server), { authProvider: provider })
const first = transport()
const client = new Client({ name: 'typescript', version: '1' })
await step('is sent to the issuer that the server names', async () => {
  await assert.rejects(client.connect(first), UnauthorizedError)
  assert(code)
  assert.equal(asked.searchParams.get('resource'), server)
  assert.match(asked.searchParams.get('scope'), /wiki:read/)
})
await step('gets a token for this server', async () => {
  await first.finishAuth(code)
  assert(tokens.access_token)
})
await step('lists the tools', async () => {
  await client.connect(transport())
  assert((await client.listTools()).tools.some((tool) => tool.name === 'wikijs_update_page'))
})
await step('reads a page', async () => {
  const page = await client.callTool({ name: 'wikijs_get_page_by_path', arguments: { path: 'docs/install/linux' } })
  assert(!page.isError, page.content?.[0]?.text)
})
await step('previews a write below its prefix', async () => {
  const write = { page: 'docs/install/linux', description: `Seen by ${name}` }
  const preview = await client.callTool({ name: 'wikijs_update_page', arguments: write })
  assert(preview.structuredContent?.preview, JSON.stringify(preview).slice(0, 300))
})
await step('writes elsewhere nothing', async () => {
  const write = { path: 'elsewhere/page', title: 'Elsewhere', content: 'x', description: '', tags: [] }
  const refused = await client.callTool({ name: 'wikijs_create_page', arguments: write })
  assert(refused.isError && /PATH|prefix/i.test(refused.content[0].text), JSON.stringify(refused).slice(0, 300))
})
await step('proposes a change for people', async () => {
  const write = { page: 'docs/install/linux', description: `Seen by ${name}`, note: `Seen by ${name}`, propose: true }
  const kept = await client.callTool({ name: 'wikijs_update_page', arguments: write })
  assert(kept.structuredContent?.proposal, JSON.stringify(kept).slice(0, 300))
})
await client.close()
process.exit(0)
