// Decides sets in a headless Chromium as a reviewer does. `node reviewer.mjs CHROMIUM LINK` signs in by the link; then
// it reads the id of a set a line, applies it and answers `ID applied`, or `ID ` and what the page says instead. The line
// `check` has the record checked.
import { createInterface } from 'node:readline';
import { Browser } from '../browser/browser.mjs';

const [program, link] = process.argv.slice(2);
const { origin } = new URL(link);
const browser = await Browser.start(program);
const see = (expression) => browser.see(expression);
const gone = (act) => browser.gone(act);
const click = (selector) => gone(() => see(`document.querySelector(${JSON.stringify(selector)}).click()`));
const is = (selector) => see(`document.querySelector(${JSON.stringify(selector)}) !== null`);
const said = () => see('document.body.innerText.slice(0, 600)');

// A server that was killed gives an error page; a person loads it again.
const until = async (page, act) => {
  let text = '';
  for (let tries = 0; tries < 12; tries += 1) {
    await browser.open(page);
    if (await act()) return '';
    text = await said();
    await new Promise((done) => { setTimeout(done, 1000); });
  }
  return text || 'nothing';
};
const failed = await until(link, async () => {
  if (await is('button.primary')) await click('button.primary');
  return /\/review$/.test(await see('location.pathname')) && !/Sign in to review/.test(await said());
});
console.log(failed ? `failed: ${failed.replaceAll('\n', ' ')}` : 'signed in');
for await (const id of createInterface({ input: process.stdin })) {
  if (id === 'check') {
    const wrong = await until(`${origin}/review/record/check`, async () => {
      await click('button.primary');
      return /All of it holds/.test(await said());
    });
    console.log(`check ${wrong ? wrong.replaceAll('\n', ' ') : 'holds'}`);
    continue;
  }
  const rest = await until(`${origin}/review/sets/${id}`, async () => {
    if (await is('#apply')) await click('#apply');
    return /Applied/.test(await said());
  });
  console.log(`${id} ${rest ? rest.replaceAll('\n', ' ') : 'applied'}`);
}
await browser.end();
