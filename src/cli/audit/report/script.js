'use strict';
// All text of the log and the wiki gets into the page by textContent alone.
(() => {
  const PAGE = 100;
  const MAX_BARS = 60;
  const MAX_NAMES = 50;
  const DAY = 86400000;
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);

  // What hides, or turns the direction of what follows, is shown by its number.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
  const shown = (text) => String(text).replace(HIDDEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

  const put = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child === undefined || child === '') continue;
      element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
    }
    return element;
  };
  const el = (name, attributes = {}, ...children) => put(document.createElement(name), attributes, children);
  const svg = (name, attributes = {}, ...children) =>
    put(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

  const number = (count) => count.toLocaleString('en-US');
  const many = (count, one, more = `${one}s`) => `${number(count)} ${count === 1 ? one : more}`;
  const time = (text) => text.slice(0, 19).replace('T', ' ');

  const TONES = {
    applied: 'good', unchanged: 'calm', not_applied: 'bad', partly_applied: 'doubt', unknown: 'doubt',
    open: 'doubt', refused: 'bad', preview: 'calm', approval: 'calm', proposal: 'calm', rejected: 'bad', purge: 'calm',
  };
  const word = (outcome) => outcome.replace('_', ' ');
  const place = (call) => {
    if (call.path === undefined) return call.id === undefined ? '' : `id ${call.id}`;
    const path = `${call.locale === undefined ? '' : `${call.locale}:`}${call.path}`;
    return call.newPath === undefined ? path : `${path} → ${call.newPath}`;
  };
  const named = (client) => (client === undefined ? '' : client.subject ?? client.name);
  const who = (call) => call.actor ?? named(call.client);
  const whoForWhom = (call) => `${who(call)}${call.proposer === undefined ? '' : ` for ${named(call.proposer)}`}`;
  // What a call took back, or which proposal it decided on; one that it made is another matter.
  const meant = (call) => (call.actor === undefined && call.proposer === undefined ? undefined : call.proposal) ?? call.undoes;
  const tool = (call) => [call.tool, meant(call)].filter(Boolean).join(' ');

  // A set of changes is one row, in which its changes stand; one without an end has none.
  const sets = new Set(data.calls.filter((call) => call.set === call.call).map((call) => call.call));
  const isFolded = (call) => call.set !== undefined && call.set !== call.call && sets.has(call.set);
  const listed = data.calls.filter((call) => !isFolded(call));
  const changesOf = new Map();
  for (const call of data.calls.filter(isFolded)) changesOf.set(call.set, [call, ...(changesOf.get(call.set) || [])]);
  const inside = (call) => changesOf.get(call.call) || [];

  // ---- Theme ----
  const themes = ['system', 'light', 'dark'];
  let theme = 0;
  $('theme').addEventListener('click', () => {
    theme = (theme + 1) % themes.length;
    if (theme === 0) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = themes[theme];
    $('theme').textContent = `Theme: ${themes[theme]}`;
  });

  // ---- What it is about ----
  const { figures } = data;
  const period = data.since || data.until
    ? `${data.since ? `from ${time(data.since)}` : 'from the beginning'}${data.until ? ` until ${time(data.until)}` : ''}`
    : 'all that is on record';
  const narrowed = data.filters.length > 0 ? `, ${data.filters.join(', ')}` : '';
  $('about').textContent = shown(`${data.wiki}, ${period}${narrowed}. Made ${time(data.made)}; all times are UTC.`);
  document.title = shown(`Audit report: ${data.wiki}`);

  const outcomes = (...names) => names.reduce((all, name) => all + (figures.outcomes[name] || 0), 0);
  $('figures').append(...[
    ['calls', figures.calls, ''],
    ['applied', outcomes('applied'), 'good'],
    ['refused', outcomes('refused', 'not_applied'), 'bad'],
    ['in doubt', outcomes('partly_applied', 'unknown', 'open'), 'doubt'],
    ['previews', outcomes('preview'), ''],
    ['proposals', outcomes('proposal', 'rejected'), ''],
    ['clients', Object.keys(figures.callsByClient).length, ''],
  ].map(([name, count, tone]) => el('li', {},
    el('b', { class: `outcome ${count > 0 ? tone : ''}` }, number(count)), el('span', {}, name))));

  const bars = (list, counts, tone) => {
    const rows = Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const most = Math.max(1, ...rows.map(([, count]) => count));
    if (rows.length === 0) list.append(el('li', { class: 'count' }, 'none'));
    for (const [name, count] of rows.slice(0, MAX_NAMES)) {
      const bar = svg('svg', { viewBox: '0 0 100 4', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        svg('rect', { class: 'track', width: 100, height: 4 }),
        svg('rect', { class: tone, width: Math.max(0.5, (100 * count) / most), height: 4 }));
      list.append(el('li', {}, el('span', { class: 'name', title: shown(name) }, name),
        el('span', { class: 'count' }, number(count)), bar));
    }
    if (rows.length > MAX_NAMES) list.append(el('li', { class: 'count' }, `and ${number(rows.length - MAX_NAMES)} more`));
  };
  bars($('gates'), figures.refusalsByGate, 'refused');
  bars($('clients'), figures.callsByClient, 'write');

  // ---- The chart: a bar a day, or as many days as it takes to have few enough bars ----
  const buckets = (() => {
    const days = Object.keys(figures.writesByDay).filter((day) => /^\d{4}-\d\d-\d\d$/.test(day)).sort();
    if (days.length === 0) return [];
    const [first, last] = [Date.parse(days[0]), Date.parse(days[days.length - 1])];
    const width = Math.max(1, Math.ceil(((last - first) / DAY + 1) / MAX_BARS));
    const name = (at) => new Date(at).toISOString().slice(0, 10);
    const made = [];
    for (let at = first; at <= last; at += width * DAY) {
      made.push({ from: name(at), to: name(Math.min(last, at + (width - 1) * DAY)), writes: 0, refusals: 0 });
    }
    for (const day of days) {
      const bucket = made[Math.floor((Date.parse(day) - first) / DAY / width)];
      bucket.writes += figures.writesByDay[day];
      bucket.refusals += figures.refusalsByDay[day] || 0;
    }
    return made;
  })();

  const draw = () => {
    const room = $('chart');
    const [width, height, left, below] = [Math.max(240, room.clientWidth), 150, 34, 18];
    const most = Math.max(1, ...buckets.map((bucket) => bucket.writes + bucket.refusals));
    const step = Math.max(1, 10 ** Math.floor(Math.log10(most)) * ([1, 2, 5].find((part) => most / (part * 10 ** Math.floor(Math.log10(most))) <= 3) || 5));
    const top = Math.ceil(most / step) * step;
    const y = (count) => 8 + (height - below - 8) * (1 - count / top);
    const parts = [];
    for (let count = 0; count <= top; count += step) {
      parts.push(svg('line', { class: 'grid', x1: left, x2: width, y1: y(count), y2: y(count) }),
        svg('text', { x: left - 6, y: y(count) + 4, 'text-anchor': 'end' }, number(count)));
    }
    const slot = (width - left) / Math.max(1, buckets.length);
    const bar = Math.min(28, Math.max(1, slot * 0.7));
    const every = Math.ceil(buckets.length / Math.max(1, Math.floor((width - left) / 84)));
    buckets.forEach((bucket, index) => {
      const x = left + slot * index + (slot - bar) / 2;
      const days = bucket.from === bucket.to ? bucket.from : `${bucket.from} to ${bucket.to}`;
      const says = `${days}: ${many(bucket.writes, 'write')}, ${many(bucket.refusals, 'refusal')}`;
      const rect = (kind, from, to) => (from === to ? undefined
        : svg('rect', { class: kind, x, width: bar, y: y(to), height: Math.max(1, y(from) - y(to)) }));
      const group = svg('g', { role: 'button', tabindex: 0, 'aria-label': `${says}. Show these days.` },
        svg('title', {}, says),
        svg('rect', { class: 'hit', x: left + slot * index, width: slot, y: 0, height: height - below }),
        rect('write', 0, bucket.writes), rect('refused', bucket.writes, bucket.writes + bucket.refusals));
      const choose = () => {
        $('from').value = bucket.from;
        $('to').value = bucket.to;
        change();
      };
      group.addEventListener('click', choose);
      group.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose();
      });
      parts.push(group);
      const isWide = slot > 70;
      const label = isWide ? x + bar / 2 : x;
      if (index % every === 0 && label + 64 <= width + (isWide ? 32 : 0)) {
        parts.push(svg('text', { x: label, y: height - 3, 'text-anchor': isWide ? 'middle' : 'start' }, bucket.from));
      }
    });
    room.replaceChildren(buckets.length === 0 ? el('p', { class: 'empty' }, 'nothing in this time')
      : svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Writes and refusals by day' }, parts));
  };

  // ---- The table ----
  const columns = [
    ['time', 'Time', (call) => call.time],
    ['kind', 'Write', (call) => call.operation || ''],
    ['page', 'Page', place],
    ['end', 'Outcome', (call) => call.outcome],
    ['who', 'Client', whoForWhom],
    ['tool', 'Tool', tool],
    ['lines', 'Lines', (call) => call.linesAdded + call.linesRemoved],
  ];
  let sorting = { column: 0, isDown: true };
  let found = [];
  let drawn = 0;

  columns.forEach(([name, label], index) => {
    const button = el('button', { type: 'button' }, label);
    button.addEventListener('click', () => {
      sorting = { column: index, isDown: sorting.column === index ? !sorting.isDown : index === 0 };
      change();
    });
    $('head').append(el('th', { role: 'columnheader', scope: 'col', class: name }, button));
  });

  const choices = (id, of) => {
    const counts = new Map();
    for (const call of listed) counts.set(of(call), (counts.get(of(call)) || 0) + 1);
    counts.delete('');
    const select = $(id);
    select.append(el('option', { value: '' }, 'all'));
    for (const [value, count] of [...counts].sort((a, b) => b[1] - a[1])) {
      const option = el('option', {}, `${id === 'outcome' ? word(value) : value} (${number(count)})`);
      option.value = value;
      select.append(option);
    }
    return (call) => select.value === '' || of(call) === select.value;
  };
  const tests = [
    choices('outcome', (call) => call.outcome),
    choices('gate', (call) => call.gate || ''),
    choices('client', who),
    choices('tool', (call) => call.tool || ''),
    (call) => $('from').value === '' || call.time.slice(0, 10) >= $('from').value,
    (call) => $('to').value === '' || call.time.slice(0, 10) <= $('to').value,
  ];
  const words = (call) =>
    [call.call, place(call), whoForWhom(call), tool(call), call.proposal, call.undoes, call.operation, call.outcome, call.gate, call.code, call.reason, call.note,
      ...call.fields].join('\n').toLowerCase();
  const haystacks = listed.map((call) => [call, ...inside(call)].map(words).join('\n'));

  const change = () => {
    const needle = $('search').value.trim().toLowerCase();
    found = [];
    listed.forEach((call, index) => {
      if ((needle === '' || haystacks[index].includes(needle)) && tests.every((test) => test(call))) found.push(call);
    });
    const key = columns[sorting.column][2];
    const sign = sorting.isDown ? -1 : 1;
    // The data are the newest first, which stays the order among equals.
    found.sort((a, b) => {
      const [one, other] = [key(a), key(b)];
      return one === other ? 0 : sign * (one < other ? -1 : 1);
    });
    [...$('head').children].forEach((head, index) => {
      if (index === sorting.column) head.setAttribute('aria-sort', sorting.isDown ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    const older = data.older > 0 ? `, and ${number(data.older)} older ones that are only counted` : '';
    $('count').textContent = found.length === listed.length ? `${many(found.length, 'call')}${older}`
      : `${number(found.length)} of ${many(listed.length, 'call')}${older}`;
    drawn = 0;
    $('rows').replaceChildren();
    if (found.length === 0) {
      $('rows').append(el('tr', { role: 'row' }, el('td', { role: 'cell', class: 'empty', colspan: columns.length }, 'no such calls')));
    }
    more();
  };

  const more = () => {
    $('rows').append(...found.slice(drawn, drawn + PAGE).map(row));
    drawn = Math.min(found.length, drawn + PAGE);
    $('more').hidden = drawn >= found.length;
    $('more').textContent = `Show ${number(Math.min(PAGE, found.length - drawn))} more of ${number(found.length - drawn)}`;
  };
  $('more').addEventListener('click', more);
  // Paper has no button: all that was found is printed.
  addEventListener('beforeprint', () => {
    while (drawn < found.length) more();
  });

  const row = (call) => {
    const toggle = el('button', { type: 'button', 'aria-expanded': 'false', 'aria-label': `${time(call.time)}, call ${call.call}, details` }, time(call.time));
    const cell = (name, ...children) => el('td', { role: 'cell', class: name }, children);
    const lines = call.linesAdded + call.linesRemoved === 0 ? []
      : [el('span', { class: 'plus' }, `+${call.linesAdded}`), ' ', el('span', { class: 'minus' }, `−${call.linesRemoved}`)];
    const by = call.outcome === 'refused' && call.gate !== undefined ? ` by ${call.gate}` : '';
    const line = el('tr', { role: 'row', class: 'call' },
      cell('time', toggle),
      cell('kind', call.operation || ''),
      cell('page', el('bdi', {}, inside(call).length > 0 ? many(inside(call).length, 'change') : place(call))),
      cell('end', el('span', { class: `outcome ${TONES[call.outcome] || ''}` }, word(call.outcome)),
        el('span', { class: 'by' }, `${by}${call.undoneBy === undefined ? '' : ', undone'}`)),
      cell('who', el('bdi', {}, whoForWhom(call))),
      cell('tool', el('bdi', {}, tool(call))),
      cell('lines', lines));
    line.addEventListener('click', () => {
      const isOpen = toggle.getAttribute('aria-expanded') === 'true';
      toggle.setAttribute('aria-expanded', String(!isOpen));
      line.classList.toggle('open', !isOpen);
      if (isOpen) line.nextElementSibling.remove();
      else line.after(el('tr', { role: 'row', class: 'unfolded' }, details(call)));
    });
    return line;
  };

  const value = (states, name) => {
    if (!(name in states)) return 'nothing';
    return typeof states[name] === 'string' ? states[name] : JSON.stringify(states[name]);
  };
  const table = (heads, rows) => el('table', { class: 'plain' },
    el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))),
    el('tbody', {}, rows.map((cells) => el('tr', {}, cells.map((cell) => el('td', {}, el('bdi', {}, cell)))))));
  const diff = (text, of) => el('pre', { class: 'mono', tabindex: 0, 'aria-label': `Difference of ${of}` },
    text.replace(/\n$/, '').split('\n').map((line) => {
      const kinds = { '+': 'added', '-': 'removed', '@': 'place', '\\': 'place' };
      return el('span', { class: kinds[line[0]] || '' }, line);
    }));

  const whole = (client) => client && [client.name, client.version, client.subject && `as ${client.subject}`,
    client.address && `from ${client.address}`].filter(Boolean).join(' ');

  const story = (call) => {
    const facts = [
      ['Call', call.call],
      ['Client', whole(call.client)],
      ['Actor', call.actor],
      ['Page id', call.id],
      ['Code', call.code],
      ['Why', call.why],
      ['Reason', call.reason],
      ['Fields', call.fields.join(', ')],
      ['Undoes', call.undoes && [call.undoes, ...(call.alsoUndoes || [])].join(', ')],
      ['Undone by', call.undoneBy],
      ['Proposal', call.proposal],
      ['Proposed by', whole(call.proposer)],
    ].filter(([, fact]) => fact !== undefined && fact !== '');
    const parts = [el('div', { class: 'story' },
      el('dl', {}, facts.map(([name, fact]) => [el('dt', {}, name), el('dd', {}, el('bdi', {}, fact))])),
      table(['Time', 'Event', 'Says'], call.records.map(([at, event, says]) => [at.slice(0, 23).replace('T', ' '), event, says])))];
    const fields = Object.entries(call.changes || {});
    const changes = fields.filter(([, states]) => !('diff' in states));
    if (changes.length > 0) {
      parts.push(el('h3', {}, 'Fields'),
        table(['Field', 'Before', 'After'], changes.map(([name, states]) => [name, value(states, 'before'), value(states, 'after')])));
    }
    for (const [name, states] of fields.filter(([, states]) => 'diff' in states)) {
      parts.push(el('h3', {}, name), diff(states.diff, name));
    }
    if (call.diff) parts.push(el('h3', {}, 'Content'), diff(call.diff, 'the content'));
    for (const note of call.notes || []) parts.push(el('p', { class: 'note' }, note));
    for (const change of inside(call)) {
      const end = `${word(change.outcome)}${change.undoneBy === undefined ? '' : ', undone'}`;
      parts.push(el('details', {}, el('summary', {}, `${change.operation || ''} `, el('bdi', {}, place(change)), `: ${end}`), story(change)));
    }
    return parts;
  };
  const details = (call) => el('td', { role: 'cell', class: 'details', colspan: columns.length }, story(call));

  // ---- Beginning ----
  let waiting = 0;
  $('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(change, 120);
  });
  for (const id of ['outcome', 'gate', 'client', 'tool', 'from', 'to']) $(id).addEventListener('change', change);
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('filters').addEventListener('reset', () => setTimeout(change));
  const notes = ['The chains of the log were not checked for this page; wikijs-mcp audit verify does.'];
  if (data.unreadable > 0) notes.unshift(`${many(data.unreadable, 'line')} of the log could not be read.`);
  $('notes').textContent = notes.join(' ');
  new ResizeObserver(draw).observe($('chart'));
  change();
})();
