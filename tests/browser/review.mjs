// Uses the page of `wikijs-gate review` in a headless Chromium as a person does.
//
//   node tests/browser/review.mjs CHROMIUM LINK LARGE_SET SETS_BY_KEYS FOLDER [CONFLICT MERGED MOVE DELETION MOST_TO_PAINT]
import assert from 'node:assert/strict';
import { Browser } from './browser.mjs';
import { Looker } from './look.mjs';

const [program, link, large, byKeys, folder, conflict, merged, move, deletion, most] = process.argv.slice(2);
const { origin } = new URL(link);
const browser = await Browser.start(program);
const looker = new Looker(browser, folder);
const see = (expression) => browser.see(expression);
const open = (path) => browser.open(`${origin}${path}`);
const said = () => see('document.body.textContent');
const gone = (act) => browser.gone(act);
const press = (key, how) => browser.press(key, how);

const stories = {
  async 'nobody is signed in'() {
    await open('/review');
    assert.match(await said(), /Sign in to review changes/);
    await looker.at('sign-in-needed');
  },
  async 'a link signs in by its button, once'() {
    await browser.open(link);
    assert.match(await said(), /You are about to sign in/);
    await looker.at('sign-in');
    await gone(() => see(`document.querySelector('button.primary').click()`));
    assert.equal(await see('location.pathname'), '/review');
    await looker.at('queue');
  },
  async 'a set that is not there says so'() {
    await open('/review/sets/0000000000000000');
    assert.match(await said(), /no such set/);
    await looker.at('error');
  },
  async 'a large set is painted soon and fits every screen'() {
    const times = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await open(`/review/sets/${large}`);
      times.push(await browser.painted());
    }
    times.sort((a, b) => a - b);
    console.log(`first paint of a set of 40 changes: ${Math.round(times[2])} ms, the median of five`);
    assert.ok(times[2] <= Number(most ?? 1000), `painted after ${times[2]} ms`);
    await looker.at('set');
    await open(`/review/sets/${large}?view=two`);
    await looker.at('set-two');
    await open(`/review/sets/${large}?view=one`);
    for (const [name, number] of [['table', 2], ['cjk', 3], ['right-to-left', 4], ['hostile', 5]]) {
      await see(`document.querySelector('#change-${number - 1}').scrollIntoView()`);
      await looker.at(`set-${name}`);
    }
    await see('scrollTo(0, document.body.scrollHeight)');
    await looker.at('set-end');
    await open(`/review/sets/${large}/new/2`);
    await looker.at('set-rendered');
  },
  async 'a conflict shows both, and what goes together is merged'() {
    if (!conflict) return;
    await open(`/review/sets/${conflict}`);
    assert.match(await said(), /changed since it was asked for/);
    assert.equal(await see(`document.getElementById('apply')`), null);
    await looker.at('conflict');
    await open(`/review/sets/${merged}`);
    assert.equal(await see(`document.getElementById('apply').textContent`), 'Apply merged');
    await looker.at('merged');
    await open(`/review/sets/${move}`);
    assert.match(await said(), /Links mended, nothing else/);
    await looker.at('move');
  },
  async 'a change is left out by mouse, and the reason by keys'() {
    if (!move) return;
    await open(`/review/sets/${move}`);
    await see(`document.querySelector('input[name=leave_out]').click()`);
    await looker.at('left-out');
  },
  async 'what was typed and ticked is there after a new sign-in'() {
    if (!move) return;
    const path = `/review/sets/${move}`;
    await open(path);
    await see(`document.querySelector('input[name=leave_out]').click(), document.querySelector('input[name=reason]').focus()`);
    await browser.ask('Input.insertText', { text: 'not before Monday' });
    const { cookies } = await browser.ask('Network.getCookies');
    await gone(() => browser.ask('Network.clearBrowserCookies'));
    assert.match(await said(), /Sign in/);
    await browser.ask('Network.setCookies', { cookies });
    await open(path);
    const typed = `[document.querySelector('input[name=reason]').value, document.querySelector('input[name=leave_out]').checked].join()`;
    assert.equal(await see(typed), 'not before Monday,true');
    await open(path);
    assert.equal(await see(typed), ',false');
  },
  async 'rejecting without a reason and typing on decides nothing'() {
    if (!deletion) return;
    const path = `/review/sets/${deletion}`;
    const focus = () => see(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
      done(document.activeElement.name || document.activeElement.id || document.activeElement.tagName))))`);
    await open(path);
    assert.equal(await focus(), 'BODY');
    // The browser itself keeps an empty reason back, with the focus in it.
    await see(`document.getElementById('reject').click()`);
    assert.equal(await focus(), 'reason');
    await looker.at('reason-missing');
    // The server does the same for browsers that do not.
    await gone(() => see(`document.querySelector('input[name=reason]').required = false,
      document.querySelector('input[name=reason]').removeAttribute('pattern'),
      document.getElementById('reject').click()`));
    assert.equal(await focus(), 'reason');
    await looker.at('reason-missing-again');
    await browser.type('We still need the install page and all a is for');
    assert.equal(await see('location.pathname'), path);
    assert.equal(await see(`document.querySelector('input[name=reason]').value`), 'We still need the install page and all a is for');
    // Neither does a chord apply while somebody writes.
    await see(`document.querySelector('input[name=reason]').value = ''`);
    await press('Enter', { control: true });
    assert.equal(await focus(), 'reason');
    // The same words with the focus nowhere.
    await open(path);
    for (const key of 'We still eed the istall page ad a a a ') await press(key);
    assert.equal(await see('location.pathname'), path);
    await press('Enter');
    await press(' ');
    assert.equal(await see('location.pathname'), path);
    assert.match(await said(), /Reject/);
    // A key that is held down, or a chord, leads to the question at most: there a link has the focus.
    await press('Escape');
    await see('document.activeElement.blur()');
    await press('Enter', { control: true, held: true });
    assert.equal(await see(`document.getElementById('apply') !== null`), true);
    await gone(() => press('Enter', { control: true }));
    assert.match(await said(), /Back: delete nothing/);
    assert.equal(await see('document.activeElement.tagName'), 'A');
    await looker.at('deletion');
    await gone(() => press('Enter'));
    assert.equal(await see('location.pathname'), path);
    assert.equal(await see(`document.getElementById('apply') !== null`), true);
    await looker.at('deletes');
    // Whoever deletes on purpose reads what went, and takes it back.
    await gone(() => press('Enter', { control: true }));
    await gone(() => see(`document.getElementById('delete').click()`));
    assert.match(await said(), /Applied just now: en\/both\/gone/);
    assert.equal(await see('document.activeElement.tagName'), 'A');
    await looker.at('deleted');
    await open(`${path}/undo`);
    assert.equal(await see('document.activeElement.tagName'), 'A');
    await looker.at('undo');
    await gone(() => see(`document.getElementById('undo').click()`));
    assert.match(await said(), /Taken back: en\/both\/gone/);
    await looker.at('undone');
  },
  async 'the queue is narrowed by risk'() {
    await open('/review?risk=tags');
    await looker.at('queue-narrow');
    await open('/review?risk=eaten');
    await looker.at('queue-wrong');
  },
  async 'twenty sets are decided by keys'() {
    let keys = 0;
    await open(`/review/sets/${byKeys.split(',')[0]}`);
    for (const id of byKeys.split(',')) {
      assert.equal(await see('location.pathname'), `/review/sets/${id}`);
      await gone(() => press('Enter', { control: true }));
      assert.match(await see(`document.querySelector('.news').textContent`), /Applied/);
      // The link to the next one has the focus.
      assert.equal(await see('document.activeElement.tagName'), 'A');
      if (keys === 0) await looker.at('decided-next');
      await gone(() => press('Enter'));
      keys += 2;
    }
    assert.ok(keys <= 60, `${keys} keystrokes`);
  },
  async 'what was decided elsewhere is told before a person decides'() {
    await open(`/review/sets/${large}`);
    const decided = await see(`(async () => {
      const form = new URLSearchParams(new FormData(document.getElementById('decide')));
      form.set('decision', 'reject');
      form.set('reason', 'not now');
      return (await fetch(location.pathname, { method: 'POST', body: form })).status;
    })()`);
    assert.equal(decided, 200);
    const told = await see(`new Promise((done) => {
      const look = () => document.querySelector('.elsewhere') ? done(document.querySelector('.elsewhere').textContent) : setTimeout(look, 100);
      look();
    })`);
    assert.match(told, /This was decided meanwhile/);
    await looker.at('decided-elsewhere');
    await open(`/review/sets/${large}`);
    assert.match(await said(), /Rejected .*: not now/);
    await looker.at('rejected');
    await open(`/review/sets/${byKeys.split(',')[0]}`);
    await looker.at('applied');
  },
  async 'a rejection is a reason and Enter, and then nothing waits'() {
    for (const id of [conflict, merged, move].filter(Boolean)) {
      await open(`/review/sets/${id}`);
      await press('r');
      await browser.ask('Input.insertText', { text: 'another page says this already' });
      await gone(() => press('Enter'));
    }
    await open('/review');
    assert.match(await said(), /Nothing waits/);
    await looker.at('queue-empty');
  },
  async 'the record is read, narrowed, followed and checked'() {
    await open('/review/record');
    await looker.at('record');
    await open('/review/record?outcome=applied&path=team&tool=review');
    await looker.at('record-narrow');
    await open('/review/record?outcome=eaten');
    await looker.at('record-wrong');
    await open('/review/record?path=no/such/page');
    await looker.at('record-none');
    await open('/review/record?outcome=applied');
    await gone(() => see(`document.querySelector('a.call').click()`));
    await looker.at('call', [1200, 1400]);
    const story = await see(`document.querySelector('a[href^="/review/record?page="]').getAttribute('href')`);
    await open(story);
    assert.match(await said(), /The story of/);
    await looker.at('story-page');
    await open('/review/record?outcome=rejected');
    await gone(() => see(`document.querySelector('a.call').click()`));
    await looker.at('story-set', [1200, 1400]);
    await open('/review/record/check');
    await looker.at('check');
    await gone(() => see(`document.querySelector('main form button').click()`));
    for (let turn = 0; turn < 50 && !(await see(`!!document.querySelector('.finding')`)); turn += 1) await open('/review/record/check');
    assert.match(await said(), /All of it holds/);
    await looker.at('check-found', [1200, 1400]);
  },
  async 'every page is whole on paper'() {
    await browser.ask('Emulation.setEmulatedMedia', { media: 'print' });
    await open(`/review/sets/${large}`);
    const cut = await see(`[...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth + 1).length`);
    assert.equal(cut, 0);
    await browser.ask('Emulation.setEmulatedMedia', { media: '' });
  },
  async 'what has the focus is seen'() {
    await open('/review/record');
    for (let step = 0; step < 16; step += 1) {
      await press('Tab');
      const faint = await see(`(({ outerHTML }, { outlineStyle, outlineWidth }) =>
        outlineStyle === 'none' || outlineWidth === '0px' ? outerHTML.slice(0, 80) : '')(document.activeElement, getComputedStyle(document.activeElement))`);
      assert.equal(faint, '');
    }
  },
};

try {
  await browser.look(1280, 900, 'light');
  for (const [story, act] of Object.entries(stories)) {
    await act();
    console.log(`ok: ${story}`);
  }
  // An address of our own that is answered with a fault is told on the console as well.
  // The script focuses before the browser would, which says so.
  const own = (fault) => !fault.startsWith(origin) && !/favicon|status of (401|404|422)|^Autofocus processing/.test(fault);
  assert.deepEqual(browser.faults().filter(own), []);
  looker.holds();
} finally {
  await browser.end();
}
