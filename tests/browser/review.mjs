// Uses the page of `wikijs-mcp review` in a headless Chromium as a person does.
//
//   node tests/browser/review.mjs CHROMIUM LINK LARGE_SET SETS_BY_KEYS [DIRECTORY FOR PICTURES]
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';

const [program, link, large, byKeys, pictures] = process.argv.slice(2);
const origin = new URL(link).origin;
const browser = await Browser.start(program);
const see = (expression) => browser.see(expression);
const open = (path) => browser.open(`${origin}${path}`);
/** Does what loads another page, and waits for that. */
const gone = async (act) => {
  const loaded = new Promise((done) => { browser.loaded = done; });
  await act();
  await loaded;
};
const press = (key) => browser.press(key);
const picture = async (name) => {
  if (!pictures) return;
  for (const width of [1280, 390]) {
    for (const theme of ['light', 'dark']) {
      await browser.look(width, width < 700 ? 844 : 900, theme);
      writeFileSync(join(pictures, `${name}-${width}-${theme}.png`), await browser.picture());
    }
  }
  await browser.look(1280, 900, 'light');
};
const noSideways = async () => {
  await browser.look(390, 844, 'light');
  const [wide, width] = await see('[document.documentElement.scrollWidth, innerWidth]');
  assert.ok(wide <= width, `the page is ${wide} wide on a screen of ${width}`);
  await browser.look(1280, 900, 'light');
};

const stories = {
  async 'nobody is signed in'() {
    await open('/review');
    assert.match(await see('document.body.textContent'), /Sign in to review changes/);
    await picture('sign-in-needed');
  },
  async 'a link signs in by its button, once'() {
    await browser.open(link);
    assert.match(await see('document.body.textContent'), /You are about to sign in/);
    await picture('sign-in');
    await gone(() => see(`document.querySelector('button.primary').click()`));
    assert.equal(await see('location.pathname'), '/review');
    await picture('queue');
    await noSideways();
  },
  async 'a large set is painted soon and fits every screen'() {
    const begun = Date.now();
    await open(`/review/sets/${large}`);
    const painted = await see(`new Promise((done) => {
      const told = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
      const look = () => told() === undefined ? requestAnimationFrame(look) : done(told());
      look();
    })`);
    console.log(`first paint of a set of 40 changes: ${Math.round(painted)} ms`);
    assert.ok(painted < 1000 && Date.now() - begun < 5000);
    await picture('set');
    await noSideways();
    await open(`/review/sets/${large}?view=two`);
    await picture('set-two');
    await open(`/review/sets/${large}?view=one`);
    await see('scrollTo(0, document.body.scrollHeight)');
    await picture('set-end');
  },
  async 'twenty sets are decided by keys'() {
    let keys = 0;
    await open(`/review/sets/${byKeys.split(',')[0]}`);
    for (const id of byKeys.split(',')) {
      assert.equal(await see('location.pathname'), `/review/sets/${id}`);
      await gone(async () => {
        await press('a');
        await press('Enter');
      });
      keys += 2;
    }
    assert.ok(keys <= 60, `${keys} keystrokes`);
    assert.match(await see(`document.querySelector('.news').textContent`), /Applied/);
  },
  async 'a rejection is a reason and Enter'() {
    await open(`/review/sets/${large}`);
    await press('r');
    await browser.ask('Input.insertText', { text: 'not now' });
    await gone(() => press('Enter'));
    await open(`/review/sets/${large}`);
    assert.match(await see('document.body.textContent'), /Rejected .*: not now/);
    await picture('rejected');
    await open('/review');
    await picture('queue-empty');
  },
};

try {
  await browser.look(1280, 900, 'light');
  for (const [story, act] of Object.entries(stories)) {
    await act();
    console.log(`ok: ${story}`);
  }
  const own = (fault) => !fault.startsWith(origin) && !/401|favicon/.test(fault);
  assert.deepEqual(browser.faults().filter(own), []);
} finally {
  await browser.end();
}
