// Opens reports of `wikijs-mcp audit report` in a headless Chromium and uses them as a person does.
//
//   node tests/browser/report.mjs CHROMIUM HOSTILE.html LARGE.html [DIRECTORY FOR PICTURES]
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';

const [program, hostile, large, pictures] = process.argv.slice(2);
const browser = await Browser.start(program);
const see = (expression) => browser.see(expression);
const rows = () => see(`document.querySelectorAll('tr.call').length`);
const said = () => see(`document.querySelector('#count').textContent`);
const choose = (id, value) => see(`{ const it = document.getElementById('${id}'); it.value = ${JSON.stringify(value)}; it.dispatchEvent(new Event('change')); }`);
const search = (text) => see(`new Promise((done) => { const it = document.getElementById('search'); it.value = ${JSON.stringify(text)}; it.dispatchEvent(new Event('input')); setTimeout(done, 200); })`);

const stories = {
  async 'it opens with its figures, its chart and its calls'() {
    assert.equal(await see('document.title'), 'Audit report: wiki.example.com');
    assert.equal(await rows(), 8);
    assert.equal(await said(), '8 calls');
    assert.equal(await see(`[...document.querySelectorAll('#figures li')].map((it) => it.textContent).join()`),
      '8calls,4applied,1refused,0in doubt,1previews,2proposals,6clients');
    assert.equal(await see(`document.querySelectorAll('#chart g').length`), 4);
  },
  async 'filters and the search narrow, and clear again'() {
    await choose('outcome', 'refused');
    assert.equal(await said(), '1 of 8 calls');
    await choose('outcome', '');
    await choose('to', '2030-01-02');
    assert.equal(await said(), '3 of 8 calls');
    await search('intern');
    assert.equal(await said(), '1 of 8 calls');
    await search('no such thing');
    assert.equal(await see(`document.querySelector('#rows').textContent`), 'no such calls');
    await see(`new Promise((done) => { document.querySelector('#filters button').click(); setTimeout(done, 50); })`);
    assert.equal(await said(), '8 calls');
    await see(`document.querySelectorAll('#chart g')[1].dispatchEvent(new MouseEvent('click'))`);
    assert.equal(await said(), '1 of 8 calls');
    await see(`new Promise((done) => { document.querySelector('#filters button').click(); setTimeout(done, 50); })`);
  },
  async 'a click on a head sorts, and says so'() {
    const first = () => see(`document.querySelector('tr.call td.page').textContent`);
    const head = (name) => see(`document.querySelector('th.${name} button').click()`);
    await head('page');
    assert.equal(await see(`document.querySelector('th.page').getAttribute('aria-sort')`), 'ascending');
    assert.match(await first(), /^de:/);
    await head('page');
    assert.match(await first(), /^en:/);
    await head('time');
    assert.equal(await see(`document.querySelector('th.page').hasAttribute('aria-sort')`), false);
  },
  async 'a call unfolds by mouse and by keyboard, with its fields and its difference'() {
    await choose('tool', 'wikijs_update_page');
    await search('1111111111111111');
    await see(`document.querySelector('tr.call').click()`);
    const unfolded = await see(`document.querySelector('td.details').textContent`);
    for (const part of ['attempt update', 'confirm: preview', 'Setup', 'Undone by5555555555555555']) {
      assert.ok(unfolded.includes(part), `${part} is not in ${unfolded}`);
    }
    assert.equal(await see(`[...document.querySelectorAll('pre .added')].map((it) => it.textContent).join()`), '+2.,+3.');
    assert.equal(await see(`document.querySelector('tr.call button').getAttribute('aria-expanded')`), 'true');
    await see(`document.querySelector('tr.call button').focus()`);
    await browser.press('Enter');
    assert.equal(await see(`document.querySelectorAll('td.details').length`), 0);
    await search('');
    await choose('tool', '');
  },
  async 'hostile text stays text'() {
    await see(`document.querySelectorAll('tr.call').forEach((it) => it.click())`);
    const text = await see(`document.querySelector('main').textContent`);
    for (const part of ['<img src=x onerror=alert(1)>', '</script><script>alert(2)</script>', '\\u{202e}', '\\u{1b}[2J', '<b onclick=alert(3)>client</b>', '<i>tool</i>']) {
      assert.ok(text.includes(part), `${part} is not shown`);
    }
    assert.equal(await see(`document.querySelectorAll('img, iframe, b[onclick], i, body script:not(#data):not(:last-of-type)').length`), 0);
    assert.equal(await see('document.scripts.length'), 2);
    assert.ok(!/[\u202e\u001b]/.test(text));
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
    const cells = (name) => see(`[...document.querySelectorAll('tr.call td.${name}')].map((it) => it.textContent).join()`);
    await choose('outcome', 'rejected');
    assert.equal(await said(), '1 of 8 calls');
    assert.equal(await cells('who'), 'user:alice for agent');
    assert.equal(await cells('tool'), 'proposals reject dddddddddddddddd');
    await see(`document.querySelector('tr.call').click()`);
    const unfolded = await see(`document.querySelector('td.details').textContent`);
    for (const part of ['Actoruser:alice', 'Proposed byagent 1', 'Proposaldddddddddddddddd']) {
      assert.ok(unfolded.includes(part), `${part} is not in ${unfolded}`);
    }
    await choose('outcome', '');
    await choose('client', 'user:alice');
    assert.equal(await cells('tool'), 'proposals reject dddddddddddddddd,undo 1111111111111111');
    await choose('client', '');
  },
  async 'ten thousand calls stay quick'() {
    const began = Date.now();
    await browser.open(pathToFileURL(large).href);
    assert.equal(await said(), '10,000 calls, and 1,000 older ones that are only counted');
    const opened = Date.now() - began;
    assert.ok(opened < 3000, `opened in ${opened} ms`);
    assert.equal(await rows(), 100);
    const took = await see(`(() => { const began = performance.now(); document.querySelector('th.page button').click(); const it = document.getElementById('outcome'); it.value = 'refused'; it.dispatchEvent(new Event('change')); return performance.now() - began; })()`);
    assert.ok(took < 500, `sorted and filtered in ${took} ms`);
    await see(`document.getElementById('more').click()`);
    assert.equal(await rows(), 200);
    await see(`{ const it = document.getElementById('outcome'); it.value = ''; it.dispatchEvent(new Event('change')); }`);
    console.log(`  opened in ${opened} ms, sorted and filtered in ${Math.round(took)} ms`);
  },
  async 'paper has every row that was found, and nothing on it is cut off'() {
    await search('page-39');
    const [found] = /^[\d,]+/.exec(await said());
    const count = Number(found.replaceAll(',', ''));
    assert.ok(count > 200 && count < 400, `${count} found`);
    assert.equal(await rows(), 100);
    const pages = async () => {
      const { data } = await browser.ask('Page.printToPDF');
      return Buffer.from(data, 'base64').toString('latin1').match(/\/Type\s*\/Page\b/g).length;
    };
    const all = await pages();
    assert.equal(await rows(), count);
    assert.equal(await see(`document.getElementById('more').hidden`), true);
    await search('page-391');
    assert.ok(await pages() < all, 'fewer rows take fewer pages');
    await see(`document.querySelector('tr.call').click()`);
    await browser.ask('Emulation.setEmulatedMedia', { media: 'print' });
    assert.equal(await see(`[...document.querySelectorAll('.bars, pre, .scroll')].filter((it) => it.scrollHeight > it.clientHeight + 1 || it.scrollWidth > it.clientWidth + 1).length`), 0);
    await browser.ask('Emulation.setEmulatedMedia', { media: '' });
    await search('');
  },
};

const shoot = async (name, width, height, theme) => {
  if (!pictures) return;
  await browser.look(width, height, theme);
  await see('new Promise((done) => setTimeout(done, 150))');
  writeFileSync(join(pictures, `${name}.png`), await browser.picture());
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
if (pictures) {
  for (const [name, page] of [['small', hostile], ['large', large]]) {
    await browser.open(pathToFileURL(page).href);
    await see(`document.querySelectorAll('tr.call')[${name === 'small' ? 5 : 1}].click()`);
    for (const theme of ['light', 'dark']) {
      await shoot(`${name}-wide-${theme}`, 1280, 1000, theme);
      await shoot(`${name}-phone-${theme}`, 390, 1400, theme);
    }
  }
}
await browser.end();
process.exit(failed === 0 ? 0 : 1);
