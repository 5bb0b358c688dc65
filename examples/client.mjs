// Calls the tools from JavaScript, by the official SDK: finds a page, reads it, and changes its description.
//
//   npm install @modelcontextprotocol/sdk
//   WIKI_BASE_URL=https://wiki.example.com WIKI_API_TOKEN=… node client.mjs "linux" "How to install on Linux"
//
// Without the second argument nothing is changed. WIKIJS_GATE names the program where it is not on the PATH.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const [words, description] = process.argv.slice(2)
const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command: process.env.WIKIJS_GATE ?? 'wikijs-gate', args: ['serve'], env: process.env }))

async function call(tool, args) {
  const result = await client.callTool({ name: tool, arguments: args })
  if (result.isError) throw new Error(result.content[0].text)
  return result.structuredContent
}

try {
  const { hits } = await call('wikijs_search_pages', { query: words })
  if (!hits?.length) throw new Error(`no page has the words ${words}`)
  const page = await call('wikijs_get_page_by_id', { id: hits[0].id, view: 'metadata' })
  console.log(`${page.title} (${page.path}): ${page.description ?? 'no description'}`)
  if (description) {
    let answer = await call('wikijs_update_page', { id: page.id, description })
    console.log(JSON.stringify(answer.changes))
    // A preview has the token that confirms it, unless people decide.
    if (answer.confirm) answer = await call('wikijs_update_page', { id: page.id, confirm: answer.confirm })
    console.log(answer.outcome ?? `proposed: ${answer.proposal}`)
  }
} finally {
  await client.close()
}
