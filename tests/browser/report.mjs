// Opens reports of `wikijs-gate audit report` in a headless Chromium and uses them as a person does.
//
//   node tests/browser/report.mjs CHROMIUM HOSTILE.html LARGE.html FOLDER
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';
import { Looker } from './look.mjs';

const [program, hostile, large, folder] = process.argv.slice(2);
const browser = await Browser.start(program);
const see = (expression) => browser.see(expression);
const rows = () => see(`[...document.querySelectorAll('li.row')].filter((it) => getComputedStyle(it).display !== 'none').length`);
const said = () => see(`document.querySelector('#count').textContent`);
const choose = (id, value) => see(`{ const it = document.getElementById('${id}'); it.value = ${JSON.stringify(value)}; it.dispatchEvent(new Event('change')); }`);
const search = (text) => see(`new Promise((done) => { const it = document.getElementById('search'); it.value = ${JSON.stringify(text)}; it.dispatchEvent(new Event('input')); setTimeout(done, 250); })`);
const clear = () => see(`new Promise((done) => { document.querySelector('#filters button').click(); setTimeout(done, 50); })`);
const first = () => see(`document.querySelector('li.row:not(.omitted)').textContent`);

const stories = {
  async 'it opens with its figures, its chart and its calls'() {
    assert.equal(await see('document.title'), 'Audit report: wiki.example.com');
    assert.equal(await rows(), 7);
    assert.equal(await said(), '8 calls in 7 rows');
    assert.equal(await see(`[...document.querySelectorAll('.figures li')].map((it) => it.textContent.replace(' ', '')).join()`),
      '8calls,4applied,1refused,0in doubt,1preview,2proposals,6clients');
    assert.equal(await see(`document.querySelectorAll('.chart g').length`), 4);
  },
  async 'what the check found and the heads are on it'() {
    const text = await see('document.body.textContent');
    for (const part of ['the file of the proposal dddddddddddddddd is missing', 'Not proven: ', 'Hash of the last line']) assert.ok(text.includes(part), `${part} is not in ${text}`);
  },
  async 'filters and the search narrow, and clear again'() {
    await choose('outcome', 'refused');
    assert.equal(await said(), '1 of 7 rows');
    await choose('outcome', '');
    await choose('to', '2030-01-02');
    assert.equal(await said(), '3 of 7 rows');
    await search('intern');
    assert.equal(await said(), '1 of 7 rows');
    await search('no such thing');
    assert.equal(await rows(), 0);
    await clear();
    assert.equal(await said(), '8 calls in 7 rows');
  },
  async 'rows are sorted'() {
    await choose('sorted', 'page');
    assert.match(await first(), /de\/intern/);
    await choose('sorted', 'time');
    assert.match(await first(), /2030-01-02 09:00:01/);
    await clear();
  },
  async 'a call unfolds by mouse and by keyboard, with its fields and its difference'() {
    await search('1111111111111111');
    await choose('tool', 'wikijs_update_page');
    await see(`document.querySelector('li.row:not(.omitted) summary').click()`);
    const open = `document.querySelector('li.row:not(.omitted) details')`;
    const unfolded = await see(`${open}.textContent`);
    for (const part of ['attempt update', 'confirm: token', 'Setup', 'Taken back by5555555555555555', 'in the wiki']) {
      assert.ok(unfolded.includes(part), `${part} is not in ${unfolded}`);
    }
    assert.equal(await see(`[...${open}.querySelectorAll('td.added')].map((it) => it.textContent).join()`), '2.,3.');
    assert.equal(await see(`${open}.open`), true);
    await see(`${open}.querySelector('summary').focus()`);
    await browser.press('Enter');
    assert.equal(await see(`${open}.open`), false);
    await clear();
  },
  async 'hostile text stays text'() {
    await see(`document.querySelectorAll('li.row details').forEach((it) => { it.open = true; })`);
    const text = await see(`document.querySelector('main').textContent`);
    for (const part of ['<img src=x onerror=alert(1)>', '</script><script>alert(2)</script>', '\\u{202e}', '\\u{1b}[2J', '<b onclick=alert(3)>client</b>', '<i>tool</i>']) {
      assert.ok(text.includes(part), `${part} is not shown`);
    }
    assert.equal(await see(`document.querySelectorAll('img, iframe, b[onclick], i').length`), 0);
    assert.equal(await see('document.scripts.length'), 1);
    assert.ok(!/[\u202e\u001b]/.test(text));
    await see(`document.querySelectorAll('li.row details').forEach((it) => { it.open = false; })`);
  },
  async 'the policy holds'() {
    const before = browser.events.length;
    await see(`{ const it = document.createElement('script'); it.textContent = 'window.broken = true'; document.body.append(it); it.remove(); }`);
    assert.equal(await see('window.broken'), undefined);
    browser.events.length = before;
  },
  async 'the theme is the system\'s, and can be switched'() {
    const ground = () => see('getComputedStyle(document.body).backgroundColor');
    await browser.look(1280, 900, 'light');
    const light = await ground();
    await browser.look(1280, 900, 'dark');
    const dark = await ground();
    assert.notEqual(light, dark);
    await see(`document.getElementById('theme').click()`);
    assert.equal(await ground(), light);
    await see(`document.getElementById('theme').click()`);
    await browser.look(1280, 900, 'light');
    assert.equal(await ground(), dark);
    await see(`document.getElementById('theme').click()`);
    assert.equal(await ground(), light);
  },
  async 'text is readable in both themes'() {
    const faint = `(() => {
      const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => { const c = part / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ground = (it) => { for (; it; it = it.parentElement) { const colour = getComputedStyle(it).backgroundColor; if (!/, 0\\)$/.test(colour)) return colour; } return 'rgb(255,255,255)'; };
      return [...document.querySelectorAll('body *')].filter((it) => !it.closest('script, svg, noscript, option') && [...it.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim() !== ''))
        .map((it) => { const [a, b] = [light(getComputedStyle(it).color), light(ground(it))]; return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), it.className || it.tagName]; })
        .filter(([contrast]) => contrast < 4.5).map(([contrast, name]) => name + ' ' + contrast.toFixed(2)).join();
    })()`;
    for (const theme of ['light', 'dark']) {
      await browser.look(1280, 900, theme);
      assert.equal(await see(faint), '', theme);
    }
  },
  async 'every control has a name, and nothing is wider than a phone'() {
    assert.equal(await see(`[...document.querySelectorAll('input, select, button')].filter((it) => !(it.labels && it.labels.length) && !it.textContent.trim() && !it.getAttribute('aria-label')).length`), 0);
    await browser.look(360, 740, 'light');
    assert.equal(await see('document.documentElement.scrollWidth'), 360);
    await browser.look(1280, 900, 'light');
  },
  async 'who decided, for whom and on what is told, and can be chosen'() {
    await choose('outcome', 'rejected');
    assert.equal(await said(), '1 of 7 rows');
    const row = await see(`document.querySelector('li.row:not(.omitted)').textContent`);
    for (const part of ['agent, decided by alice', 'user:alice', 'proposals reject', 'Asked byagent 1', 'Proposaldddddddddddddddd', 'not here']) {
      assert.ok(row.includes(part), `${part} is not in ${row}`);
    }
    await choose('outcome', '');
    await choose('who', 'user:alice');
    assert.equal(await rows(), 2);
    await clear();
  },
  async 'ten thousand calls stay quick'() {
    // The best of three, so that a busy machine does not count.
    let opened = Infinity;
    for (let turn = 0; turn < 3 && opened >= 10000; turn += 1) {
      const began = Date.now();
      await browser.open(pathToFileURL(large).href);
      assert.equal(await said(), '10000 calls in 10000 rows, and 1000 older ones that are only counted');
      opened = Math.min(opened, Date.now() - began);
    }
    assert.ok(opened < 10000, `opened in ${opened} ms`);
    assert.equal(await rows(), 100);
    const took = await see(`(() => { const began = performance.now(); const it = document.getElementById('outcome'); it.value = 'refused'; it.dispatchEvent(new Event('change')); document.body.offsetHeight; return performance.now() - began; })()`);
    assert.ok(took < 1000, `filtered in ${took} ms`);
    await see(`document.getElementById('more').click()`);
    assert.equal(await rows(), 200);
    await clear();
    console.log(`  opened in ${opened} ms, filtered in ${Math.round(took)} ms`);
  },
  async 'paper has every row that was found, and nothing on it is cut off'() {
    await search('page-39');
    const [found] = /^\d+/.exec(await said());
    const count = Number(found);
    assert.ok(count > 200 && count < 400, `${count} found`);
    assert.equal(await rows(), 100);
    await browser.ask('Emulation.setEmulatedMedia', { media: 'print' });
    assert.equal(await rows(), count);
    await browser.ask('Emulation.setEmulatedMedia', { media: '' });
    await browser.open(pathToFileURL(hostile).href);
    await browser.ask('Emulation.setEmulatedMedia', { media: 'print' });
    // A short report is printed with all that it unfolds.
    assert.ok(await see(`document.querySelector('li.row .story').getBoundingClientRect().height`) > 50);
    assert.equal(await see(`[...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth + 1).length`), 0);
    await browser.ask('Emulation.setEmulatedMedia', { media: '' });
  },
};

let failed = 0;
await browser.open(pathToFileURL(hostile).href);
await browser.look(1280, 900, 'light');
for (const [name, story] of Object.entries(stories)) {
  try {
    await story();
    assert.deepEqual(browser.faults(), []);
    console.log(`ok    ${name}`);
  } catch (fault) {
    failed += 1;
    browser.events.length = 0;
    console.log(`FAIL  ${name}\n${fault.stack}`);
  }
}
const looker = new Looker(browser, folder);
await browser.open(pathToFileURL(hostile).href);
await looker.at('report', [1000, 1400]);
await see(`document.querySelectorAll('li.row summary')[5].click()`);
await see(`document.querySelectorAll('li.row')[5].scrollIntoView()`);
await looker.at('report-unfolded', [1000, 1400]);
await browser.open(pathToFileURL(large).href);
looker.source = undefined;
await looker.at('report-large', [1000, 1400]);
try {
  looker.holds();
} catch (fault) {
  failed += 1;
  console.log(fault.message);
}
await browser.end();
process.exit(failed === 0 ? 0 : 1);
