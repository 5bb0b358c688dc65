// Prints how many milliseconds after it asked a headless Chromium had painted something of a page, five times.
//
//   node tests/browser/paint.mjs CHROMIUM LINK PATH
import { Browser } from './browser.mjs';

const [program, link, path] = process.argv.slice(2);
const browser = await Browser.start(program);
try {
  await browser.look(1280, 900, 'light');
  await browser.open(link);
  const loaded = new Promise((done) => { browser.loaded = done; });
  await browser.see(`document.querySelector('button.primary').click()`);
  await loaded;
  for (let turn = 0; turn < 6; turn += 1) {
    await browser.open(`${new URL(link).origin}${path}`);
    const painted = await browser.painted();
    // The first one starts the browser's own parts.
    if (turn > 0) console.log(painted);
  }
} finally {
  await browser.end();
}
