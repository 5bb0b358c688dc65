// The fixed conversation, by the official TypeScript SDK: `node typescript.mjs PREVIEW PERSON`. Each is
// the address of a server that confirms writes that way, or that word: then one is started.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

// The SDK lies where this is run.
const require = createRequire(`${process.cwd()}/`)
const { Client } = require('@modelcontextprotocol/sdk/client/index.js')
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js')
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js')
const { ElicitRequestSchema } = require('@modelcontextprotocol/sdk/types.js')

const PAGE = { path: 'docs/install/linux' }
let answer = 'once'
let asked = 0

async function connect(target) {
  const client = new Client({ name: 'typescript', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => {
    asked += 1
    return { action: 'accept', content: { answer } }
  })
  await client.connect(
    target.startsWith('http')
      ? new StreamableHTTPClientTransport(new URL(target))
      : new StdioClientTransport({ command: process.env.SERVER, args: ['serve'], env: { ...process.env, WIKI_CONFIRM: target } }))
  return client
}

async function call(client, name, args, options) {
  const result = await client.callTool({ name: `wikijs_${name}`, arguments: args }, undefined, options)
  assert(!result.isError, result.content?.[0]?.text)
  return result.structuredContent
}

async function step(name, act) {
  try {
    await act()
    console.log(`passed ${name}`)
  } catch (error) {
    console.log(`failed ${name}: ${String(error).replaceAll('\n', ' ')}`)
  }
}

const SEARCH = { query: 'linux', in: 'content' }
const description = `Seen at ${Date.now()}`
const preview = await connect(process.argv[2])
let page, shown

await step('initialize', () => assert.equal(preview.getServerVersion().name, 'wikijs-gate'))
await step('list', async () => {
  assert.equal((await preview.listTools()).tools.length, 10)
  assert((await preview.listResources()).resources.length > 3)
})
await step('progress', async () => {
  const told = []
  const found = await call(preview, 'search_pages', SEARCH, { onprogress: at => told.push(at) })
  assert(found.hits.length > 0 && told.length > 0 && told.every(at => at.progress <= at.total), JSON.stringify(told))
})
await step('read', async () => {
  page = await call(preview, 'get_page_by_path', PAGE)
  const read = await preview.readResource({ uri: `wikijs://en/${PAGE.path}` })
  assert.equal(read.contents[0].mimeType, 'text/markdown')
})
await step('preview', async () => {
  shown = await call(preview, 'update_page', { id: page.id, description })
  assert(shown.preview && shown.changes.description.after === description)
})
await step('confirm', async () => {
  const done = await call(preview, 'update_page', { id: page.id, confirm: shown.confirm })
  assert.equal(done.outcome, 'applied')
  assert.equal((await call(preview, 'get_page_by_path', PAGE)).description, description)
})
await preview.close()

const person = await connect(process.argv[3])
await step('cancellation', async () => {
  const cancel = new AbortController()
  const search = call(person, 'search_pages', SEARCH, { signal: cancel.signal, onprogress: () => cancel.abort() })
  await assert.rejects(search)
  await call(person, 'list_tags', {})
})
await step('elicitation', async () => {
  const change = title => person.callTool({ name: 'wikijs_update_page', arguments: { id: page.id, description: title } })
  assert.equal((await change(`${description}, and again`)).structuredContent?.outcome, 'applied')
  answer = 'no'
  assert.equal((await change('never'))._meta.error.code, 'APPROVAL_DENIED')
  assert.equal(asked, 2)
  assert.equal((await call(person, 'get_page_by_path', PAGE)).description, `${description}, and again`)
})
await person.close()
