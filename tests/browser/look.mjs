// Looks at a page as a designer and a person with a screen reader would: at both widths and in both themes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The source of axe-core, from npm; nothing where npm does not give it. */
const axe = (folder) => {
  const file = join(folder, 'node_modules/axe-core/axe.min.js');
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const arguments_ = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', 'axe-core@4'];
    spawnSync('npm', arguments_, { timeout: 60_000, stdio: 'ignore' });
  }
  if (existsSync(file)) return readFileSync(file, 'utf8');
  console.log('skipped: axe-core, which npm does not give');
  return undefined;
};

export class Looker {
  /** Looks with this browser; what it needs and what it finds lies in a folder below target/. */
  constructor(browser, folder) {
    this.browser = browser;
    this.folder = folder;
    this.source = axe(folder);
    this.found = [];
    mkdirSync(join(folder, 'pictures'), { recursive: true });
  }

  /** Looks at the page that is open; what is wrong is told at the end. */
  async at(name, heights = [900, 844]) {
    for (const [width, height] of [[1280, heights[0]], [390, heights[1]]]) {
      for (const theme of ['light', 'dark']) {
        await this.browser.look(width, height, theme);
        writeFileSync(join(this.folder, 'pictures', `${name}-${width}-${theme}.png`), await this.browser.picture());
        if (theme === 'light') await this.fits(`${name} at ${width}`, width);
        await this.isNamed(`${name} at ${width}, ${theme}`);
      }
    }
    await this.browser.look(1280, 900, 'light');
  }

  /** No sideways scrolling of the page, and no text that is cut off. */
  async fits(where, width) {
    const wide = await this.browser.see('document.documentElement.scrollWidth');
    if (wide > width) this.found.push(`${where}: the page is ${wide} wide`);
    const cut = await this.browser.see(`[...document.querySelectorAll('main *, header *')].filter((it) => {
      const { overflowX, position } = getComputedStyle(it);
      return overflowX === 'hidden' && position !== 'absolute' && it.clientWidth > 0 && it.scrollWidth > it.clientWidth + 1;
    }).map((it) => it.className || it.tagName).join()`);
    if (cut) this.found.push(`${where}: cut off: ${cut}`);
  }

  /** No serious finding of axe-core. */
  async isNamed(where) {
    if (!this.source) return;
    if (await this.browser.see('typeof axe') === 'undefined') await this.browser.see(`${this.source}; true`);
    const found = await this.browser.see(`axe.run(document, { preload: false, resultTypes: ['violations'] })
      .then((all) => all.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '')).join(' | ')))`);
    for (const fault of found) this.found.push(`${where}: ${fault}`);
  }

  /** Fails where anything was wrong. */
  holds() {
    assert.deepEqual(this.found, []);
  }
}
