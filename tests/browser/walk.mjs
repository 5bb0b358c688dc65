// The pictures of README.md and docs/review.md: what a reviewer does in a headless Chromium, and an auditor after them.
//
//   node tests/browser/walk.mjs CHROMIUM LINK SET FOLDER decide|look
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';

const [program, link, set, folder, part] = process.argv.slice(2);
const { origin } = new URL(link);
const browser = await Browser.start(program);
const see = (expression) => browser.see(expression);
const gone = (act) => browser.gone(act);
/** A picture in which ids, times and the user are the same in every run. */
const picture = async (name, width, height, theme = 'light') => {
  await see(`(() => {
    const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (all.nextNode()) {
      const it = all.currentNode;
      it.textContent = it.textContent
        .replace(/\\b[0-9a-f]{16}\\b/g, '4f2a91c07be3d658')
        .replace(/\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(\\.\\d+)?/g, '2030-01-31 09:30:00')
        .replace(/\\d\\d-\\d\\d \\d\\d:00/g, '01-31 09:00')
        .replace(/127\\.0\\.0\\.1:\\d+/g, 'wiki.example.org')
        .replace(/just now|\\d+ seconds? ago|\\d+ minutes? ago/g, 'just now');
    }
  })()`);
  await browser.look(width, height, theme);
  writeFileSync(join(folder, `${name}.png`), await browser.picture());
};
const signIn = async () => {
  await browser.open(link);
  await gone(() => see(`document.querySelector('button.primary').click()`));
};

const parts = {
  async decide() {
    await signIn();
    await browser.open(`${origin}/review`);
    await picture('queue', 960, 300);
    await browser.open(`${origin}/review/sets/${set}`);
    await see(`[...document.querySelectorAll('.change')].find((it) => it.textContent.includes('guide/old-faq')).querySelector('input').click()`);
    await picture('set', 960, 1160);
    await picture('set-dark', 960, 1160, 'dark');
    await picture('phone', 390, 844);
    await browser.look(960, 900, 'light');
    // The pages on which only links are mended come after the others.
    await gone(() => browser.press('n'));
    assert.equal(await see(`document.querySelectorAll('input[name=leave_out]:checked').length`), 1);
    await gone(() => browser.press('Enter', { control: true }));
    assert.match(await see('document.body.textContent'), /Applied/);
    await picture('decided', 960, 640);
  },
  async look() {
    await signIn();
    await browser.open(`${origin}/review/record`);
    await picture('record', 960, 640);
    await gone(() => see(`document.querySelector('a.call').click()`));
    await picture('story', 960, 900);
  },
};
try {
  await browser.look(960, 900, 'light');
  await parts[part]();
} finally {
  await browser.end();
}
