// A headless Chromium, driven over its debugging pipe; no packages.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'report-'));
    browser.process = spawn(program, [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
      '--remote-debugging-pipe', `--user-data-dir=${browser.profile}`, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.waiting = new Map();
    browser.events = [];
    browser.count = 0;
    let rest = '';
    browser.process.stdio[4].on('data', (chunk) => {
      const messages = (rest + chunk).split('\0');
      rest = messages.pop();
      for (const text of messages) browser.receive(JSON.parse(text));
    });
    const { targetInfos } = await browser.ask('Target.getTargets');
    const { targetId } = targetInfos.find((target) => target.type === 'page');
    const { sessionId } = await browser.ask('Target.attachToTarget', { targetId, flatten: true });
    browser.session = sessionId;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.ask(`${domain}.enable`);
    return browser;
  }

  receive(message) {
    if (message.id === undefined) {
      this.events.push(message);
      if (message.method === 'Page.loadEventFired' && this.loaded) this.loaded();
      return;
    }
    const { done, fail } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) fail(new Error(JSON.stringify(message.error)));
    else done(message.result);
  }

  ask(method, params = {}) {
    const id = ++this.count;
    const message = { id, method, params };
    if (this.session) message.sessionId = this.session;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    });
  }

  // Opens a page and waits until it is loaded.
  open(address) {
    return this.gone(() => this.ask('Page.navigate', { url: address }));
  }

  // Does what loads another page, and waits for that.
  async gone(act) {
    const loaded = new Promise((done) => { this.loaded = done; });
    await act();
    await loaded;
  }

  // What an expression gives in the page.
  async see(expression) {
    const answer = await this.ask('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception.description);
    return answer.result.value;
  }

  // How many milliseconds after the page was asked for something of it was painted.
  painted() {
    return this.see(`new Promise((done) => {
      const told = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
      const look = () => told() === undefined ? requestAnimationFrame(look) : done(told());
      look();
    })`);
  }

  // How wide and high it is, and which theme the system has.
  async look(width, height, theme) {
    await this.ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 700 });
    await this.ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: theme }] });
  }

  // Presses a key as a person does: what it types goes where the focus is.
  async press(key, { control = false, held = false } = {}) {
    const text = key === 'Enter' ? '\r' : [...key].length === 1 && !control ? key : undefined;
    const code = { Enter: 13, Tab: 9, ' ': 32 }[key] ?? key.toUpperCase().charCodeAt(0);
    for (const type of ['keyDown', 'keyUp']) {
      await this.ask('Input.dispatchKeyEvent', {
        type, key, code: key === ' ' ? 'Space' : key, text, windowsVirtualKeyCode: code,
        modifiers: control ? 2 : 0, autoRepeat: held && type === 'keyDown',
      });
    }
  }

  // Types words, key by key, wherever the focus goes meanwhile.
  async type(words) {
    for (const key of words) await this.press(key);
  }

  async picture() {
    const { data } = await this.ask('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }

  // What the page complained of, and what it asked for beside itself.
  faults() {
    return this.events.flatMap(({ method, params }) => {
      if (method === 'Runtime.exceptionThrown') return [params.exceptionDetails.text];
      if (method === 'Runtime.consoleAPICalled') return [`console.${params.type}`];
      if (method === 'Log.entryAdded') return [params.entry.text];
      if (method === 'Page.javascriptDialogOpening') return ['a dialog'];
      if (method === 'Network.requestWillBeSent' && params.type !== 'Document' && !params.request.url.startsWith('data:')) return [params.request.url];
      return [];
    });
  }

  async end() {
    const ended = new Promise((done) => { this.process.once('exit', done); });
    await this.ask('Browser.close').catch(() => {});
    await ended;
    rmSync(this.profile, { recursive: true, force: true });
  }
}
