// What a reviewer does in a headless Chromium who signs in at the issuer: decides, comes back behind a restart of the
// server, signs out. `node walk.mjs CHROMIUM PAGE ISSUER SERVER ARGUMENT…` starts the server by itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Browser } from '../browser/browser.mjs';

const [program, page, issuer, server, ...command] = process.argv.slice(2);
const patience = async (look) => {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await look().catch(() => false)) return true;
    await new Promise((done) => { setTimeout(done, 50); });
  }
  return false;
};
const start = async () => {
  const started = spawn(server, command, { stdio: 'ignore' });
  assert(await patience(async () => (await fetch(`${page}/healthz`)).ok), 'the server did not start');
  return started;
};
const stop = async (running) => {
  const ended = once(running, 'exit');
  running.kill('SIGTERM');
  await ended;
};

let serving = await start();
const browser = await Browser.start(program);
const see = (expression) => browser.see(expression);
const text = () => see('document.body.textContent');
const settled = async (wanted) => {
  await patience(async () => wanted.test(await text()));
  assert.match(await text(), wanted);
};
const click = (selector) => see(`document.querySelector(${JSON.stringify(selector)}).click()`);

const steps = {
  async 'signs in at another site and decides'() {
    await fetch(`${issuer}/as/bob`);
    await browser.open(`${page}/review`);
    await click('a.primary');
    // Over the issuer and back, and on by itself.
    await settled(/Seen by ann/);
    assert.equal(await see('location.pathname'), '/review');
    assert.equal(await see('document.cookie'), '');
    await click('main a[href^="/review/sets/"]');
    await settled(/Apply/);
    await browser.press('Enter', { control: true });
    await settled(/Applied/);
  },
  async 'is still signed in behind a restart'() {
    await stop(serving);
    serving = await start();
    await browser.open(`${page}/review`);
    await settled(/bob/);
    assert.doesNotMatch(await text(), /How to sign in/);
  },
  async 'signs out'() {
    await click('form[action$="/sign-out"] button');
    await settled(/signed out here/);
    await browser.open(`${page}/review`);
    await settled(/How to sign in/);
  },
};
for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
    console.log(`passed ${name}`);
  } catch (error) {
    console.log(`failed ${name}: ${String(error).replaceAll('\n', ' ')}`);
  }
}
await browser.end();
await stop(serving);
