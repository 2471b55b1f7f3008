// The page: head, time, filters, views, inspector, foot, and the keys that move between them.

import { render } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAnswer } from './answer'
import { toClipboard } from './clipboard'
import { askChanges, askDiff, Diff, type Sides } from './diff'
import { Boxes, Flame } from './flame'
import { GraphPicture } from './graph'
import { Inspector, quoteRegex, quoteWhen } from './inspector'
import { loadCode, loadCompiled, loadFiles, loadSelection, type Given } from './load'
import { RULES } from './rules'
import { fieldsOf, selectionOf, sharedFilters, withFilters } from './selection'
import { Session, type About, type CallersRow, type CodeReport, type DiffReport, type FlameHead, type Kept, type LanesHead, type Options, type Packed, type Report } from './session'
import { Source } from './source'
import { COLLAPSE, FIRST, fromFragment, History, inTime, isZone, LEVELS, options, toFragment, VIEWS, type Range, type Selected, type State, type View } from './state'
import { Ticks } from './ticks'
import { Timeline } from './timeline'
import { amount, duration, grouped, noteText, percent } from './units'
import { Butterfly, Functions, Graph, Statistics, Tree, Zones } from './views'

const TITLES: Record<View, string> = {
  flame: 'Flame', tree: 'Tree', functions: 'Functions', callers: 'Callers', graph: 'Graph', source: 'Source', zones: 'Zones', diff: 'Diff', statistics: 'Statistics',
}
const CLOCKS: [string, string][] = [['cpu-time', 'CPU'], ['real-time', 'Real'], ['blocked-time', 'Blocked'], ['preempted-time', 'Preempted']]
// What may be put before the profile as a filter by hand.
const FILTERS = ['when', 'focus', 'ignore', 'hide', 'thread', 'pid', 'time', 'label', 'zone', 'tick'] as const

// The callers and callees of one function, of the load object if several have that name.
async function callersOf(session: Session, profile: number, state: State, selected: Selected): Promise<Report<CallersRow>> {
  const level: Options = isZone(selected) && state.level === 'function' ? [['level', 'zone']] : []
  const found = await session.report<CallersRow>(profile, [...options(state), ...level, ['view', 'callers'], ['limit', '0'], ['center', selected.name]])
  const row = found.rows.find(r => r.name === selected.name && (r.module ?? '') === selected.module) ?? found.rows[0]
  return { ...found, rows: row ? [row] : [] }
}

// A slice of time has some samples of a busy thread, or a pattern would be seen that is the clock's.
function slicesOf(about: About, span: State['span']): number {
  const lasts = span ? span[1] - span[0] : about.duration_ns, wanted = lasts && about.interval_ns ? lasts / about.interval_ns / 4 : 600
  return Math.round(Math.min(Math.max(wanted, 40), 600))
}

// A view can have millions of rows: it begins with this many of the heaviest, and has ten times as many when they are
// asked for.  The graph's functions have as many callers, and callees, at most.
const FIRST_ROWS: Partial<Record<View, number>> = { flame: 20_000, tree: 20_000, graph: 50 }
// The picture of a graph is made of so many entries, and so many of their callers and callees.
const PICTURE_ROWS = 200, PICTURE_LINES = 30

// The profile's metrics, the chosen one first; without those that it does not have.
function metricsOf(state: State, about: About): string[] {
  const first = state.metric || about.metric
  return [first, ...about.metrics.filter(m => m.name !== first && m.total !== 0).map(m => m.name)]
}

function viewOptions(state: State, about: About, rows: number): Options {
  const list = options(state)
  const view: Partial<Record<View, Options>> = {
    tree: [['view', 'tree'], ['collapse', state.collapse], ['limit', String(rows)], ...(state.inverted ? [['invert', null]] as Options : [])],
    functions: [['view', 'functions'], ['sort', state.sort], ['limit', '0'], ...(state.beside ? [['metric', metricsOf(state, about).join(',')]] as Options : [])],
    graph: [['view', 'graph'], ['limit', String(rows)]],
    zones: [['view', 'zones'], ['limit', '0']],
    statistics: [['view', 'stats']],
  }
  return [...list, ...(view[state.view] ?? [])]
}

// What the command line is asked to print what is seen; null: it has no such text.
function textOptions(state: State, about: About, view: View): Options | null {
  if (view === 'callers')
    return state.selected && [...options(state), ['view', 'callers'], ['center', state.selected.name]]
  if (view === 'source' || view === 'diff') return null
  return viewOptions({ ...state, view: view === 'flame' ? 'tree' : view }, about, 0).filter(([name]) => name !== 'limit')
}

function flameOptions(state: State, rows: number): Options {
  return [...options(state), ['collapse', state.collapse], ['limit', String(rows)], ...(state.inverted ? [['invert', null]] as Options : [])]
}

function searchOf(text: string): RegExp | null {
  if (text === '') return null
  try {
    return new RegExp(text, 'i')
  } catch {
    return new RegExp(quoteRegex(text), 'i')
  }
}

// What was typed, once it was.
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 200)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

function Segments<T extends string>({ label, values, value, onChange }: { label: string; values: readonly (readonly [T, string])[]; value: T; onChange(value: T): void }) {
  return <span class="seg" role="group" aria-label={label}>{values.map(([key, text]) => <button key={key} aria-pressed={key === value} onClick={() => onChange(key)}>{text}</button>)}</span>
}

function Head({ about, state, dark, whenError, matched, onChange, onWhen, onTheme, onHelp }: {
  about: About; state: State; dark: boolean; whenError: string; matched: string
  onChange(change: Partial<State>): void; onWhen(text: string): void; onTheme(): void; onHelp(): void
}) {
  const metric = state.metric || about.metric
  const clocks = CLOCKS.filter(([name]) => about.metrics.some(m => m.name === name && m.total !== 0))
  const others = about.metrics.filter(m => !clocks.some(([name]) => name === m.name))
  const file = about.source.split('/').pop() ?? ''
  return (
    <header>
      <h1 class="logo">s<i>o</i>nde</h1>
      <span class="sub"><b>{file}</b>{about.command && <span title={about.command}>{about.command}</span>}</span>
      {clocks.length > 1 && <Segments label="Metric" values={clocks} value={metric} onChange={m => onChange({ metric: m })} />}
      {others.length > 0 && (clocks.length <= 1 || others.some(m => m.total !== 0)) &&
        <select aria-label="Other metrics" value={clocks.length > 1 && clocks.some(([name]) => name === metric) ? '' : metric} onChange={event => { const v = event.currentTarget.value; if (v) onChange({ metric: v }) }}>
          {clocks.length > 1 && <option value="">more…</option>}
          {(clocks.length > 1 ? others : about.metrics).map(m => <option key={m.name} value={m.name}>{m.name}</option>)}
        </select>}
      <form class="when" onSubmit={event => { event.preventDefault(); const input = event.currentTarget.elements.namedItem('when') as HTMLInputElement; onWhen(input.value.trim()); input.value = ''; input.blur() }}>
        <input name="when" placeholder="WHEN  .main->*->.malloc" aria-label="WHEN pattern" aria-invalid={whenError !== ''} title={whenError || 'Which call stacks count, and for whom: sonde help when'} size={24} spellcheck={false} autocomplete="off" />
      </form>
      <input id="search" type="search" placeholder="Search  /" aria-label="Search functions" size={14} value={state.search} onInput={event => onChange({ search: event.currentTarget.value })} spellcheck={false} />
      {matched && <output for="search" title="how much of what is shown is in stacks with a function of that name">{matched}</output>}
      <span class="seg"><button aria-label={dark ? 'Light colours' : 'Dark colours'} onClick={onTheme}>◐</button><button aria-label="Help" onClick={onHelp}>?</button></span>
    </header>
  )
}

function Chips({ about, state, kept, total, unit, canUndo, canRedo, copied, onRemove, onAdd, onUndo, onRedo, onCopy, onLink }: {
  about: About; state: State; kept: Kept[]; total: number; unit: string; canUndo: boolean; canRedo: boolean; copied: string
  onRemove(i: number): void; onAdd(name: string, value: string): void; onUndo(): void; onRedo(): void; onLink(): void
  onCopy: (() => void) | null // null: the view has no text
}) {
  const [name, setName] = useState<typeof FILTERS[number]>('focus')
  // Times as dragged are in ns, and shorter in their own unit.
  const label = ([filter, value]: [string, string]) => filter === 'time'
    ? `time ${value.split(':').map(t => /^\d+ns$/.test(t) ? duration(Number(t.slice(0, -2))) : t).join(' – ')}` : `${filter} ${value}`
  const shown = kept.slice(-state.filters.length)
  return (
    <section class="chips" aria-label="Filters">
      {state.filters.length === 0 && <span class="chip plain">whole run{about.duration_ns ? ` ${duration(about.duration_ns)}` : ''}</span>}
      {state.filters.map((filter, i) => {
        const k = shown[i]
        return <span class="chip" key={i} title={k && total ? `keeps ${amount(k.kept, unit)}, ${percent(k.kept, total)} of all` : ''}>
          {label(filter)}{k && total !== 0 && state.filters.length === shown.length && <em>{percent(k.kept, total)}</em>}
          <button aria-label={`remove ${filter[0]} ${filter[1]}`} onClick={() => onRemove(i)}>×</button>
        </span>
      })}
      <form onSubmit={event => { event.preventDefault(); const input = event.currentTarget.elements.namedItem('value') as HTMLInputElement; if (input.value.trim()) onAdd(name, input.value.trim()); input.value = ''; input.blur() }}>
        <select aria-label="Filter" value={name} onChange={event => setName(event.currentTarget.value as never)}>{FILTERS.map(f => <option key={f}>{f}</option>)}</select>
        <input name="value" aria-label="Filter's value" placeholder={name === 'label' ? 'service=api' : name === 'time' ? '1.5s:2s' : 'add a filter'} size={14} spellcheck={false} autocomplete="off" />
      </form>
      <span class="grow" />
      <output class="lab" aria-live="polite">{copied}</output>
      {onCopy && <button class="plain" onClick={onCopy} title="what sonde report prints of this view"><kbd>y</kbd> copy</button>}
      <button class="plain" onClick={onLink} title="the address of what is seen">copy link</button>
      <button class="plain" disabled={!canUndo} onClick={onUndo}><kbd>u</kbd> undo</button>
      <button class="plain" disabled={!canRedo} onClick={onRedo}><kbd>U</kbd> redo</button>
    </section>
  )
}

const KEYS: [string, string][] = [
  ['1 … 9', 'the views'], ['/', 'search'], ['u  U', 'undo, redo'], ['f  i  h  w', 'focus, ignore, hide, charge to the selected function'],
  ['c', 'the next degree of collapsing recursion'], ['v', 'invert: callers below'], ['x', 'take all filters away'], ['t', 'light or dark'],
  ['arrows', 'callers, callees, neighbours; rows of tables'], ['Enter', 'zoom into a box; follow recursion'], ['Escape', 'zoom out; leave a field'],
  ['j', 'to where recursion goes on'], ['y', 'copy the view as text; in the flame graph, the stack'], ['n  N', 'source: the next hottest line, the one before'], ['drag', 'select time'], ['z  Z', 'lanes: only the selected time, all of the time'], ['Shift arrows', 'lanes: from zone to zone'], ['?', 'this help'],
]

function Help({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current!.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="Help">
      <h2>Keys</h2>
      <dl>{KEYS.map(([key, text]) => <><dt><kbd>{key}</kbd></dt><dd>{text}</dd></>)}</dl>
      <h2>What the figures mean</h2>
      <dl>{Object.entries(RULES).map(([figure, rule]) => <><dt>{figure}</dt><dd>{rule}</dd></>)}</dl>
      <p>In the tree, recursion may be collapsed: a stub <b>↺ f…</b> stands for the calls that go on in the node above.</p>
      <p>Everything is in this page, and nothing leaves it. The address holds what you see, so it can be kept and sent.</p>
      <form method="dialog"><button autofocus>Close</button></form>
    </dialog>
  )
}

function App({ session, given }: { session: Session; given: Given }) {
  const profile = given.profile
  const history = useRef(new History(fromFragment(location.hash.slice(1))))
  const [state, setState] = useState(history.current.now)
  const [help, setHelp] = useState(false)
  const [wantsDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  const [message, setMessage] = useState('')
  const about = given.about
  const self = { profile, name: about.source.split('/').pop() ?? '' }
  // With a file that was dropped; with a selection of the store, which the address holds, instead.
  const [dropped, setDropped] = useState<Sides | null>(null)

  const show = useCallback((next: State) => {
    setState(next)
    window.history.replaceState(null, '', `#${toFragment(next)}`)
  }, [])
  const go = useCallback((change: Partial<State>) => {
    history.current.go({ ...history.current.now, ...change })
    show(history.current.now)
  }, [])
  // A search is typed letter by letter, and a selection moves: neither is a step to go back to.
  const set = useCallback((change: Partial<State>) => {
    history.current.now = { ...history.current.now, ...change }
    show(history.current.now)
  }, [])
  const select = useCallback((selected: Selected) => set({ selected }), [])
  const undo = () => { if (history.current.undo()) show(history.current.now) }
  const redo = () => { if (history.current.redo()) show(history.current.now) }

  // Paper is light.
  const [printing, setPrinting] = useState(false)
  useEffect(() => {
    const paper = matchMedia('print'), see = () => setPrinting(paper.matches)
    paper.addEventListener('change', see)
    return () => paper.removeEventListener('change', see)
  }, [])
  const dark = wantsDark && !printing
  // Before the canvases draw, which read their colours from the style.
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  useEffect(() => {
    const read = () => { history.current.go(fromFragment(location.hash.slice(1))); setState(history.current.now) }
    window.addEventListener('hashchange', read)
    return () => window.removeEventListener('hashchange', read)
  }, [])

  const views = VIEWS.filter(view => (view !== 'zones' || about.has_zones) && (about.has_stacks || !['flame', 'tree', 'callers', 'source'].includes(view)))
  const seen = views.includes(state.view) ? state.view : 'functions', isDiff = seen === 'diff'
  const sharedBy = ({ filters, metric, level }: State) => JSON.stringify([filters, metric, level])
  const shared = sharedBy(state)
  // While a time is being dragged, the view follows: each answer is followed by a question about where the drag is then.
  const [followed, setFollowed] = useState<Range | null>(null), dragged = useRef<Range | null>(null)
  const live = useMemo(() => followed ? { ...state, filters: inTime(state.filters, followed) } : state, [state, followed])
  const asked = `${seen}${sharedBy(live)}${state.collapse}${state.inverted}${state.sort}${state.beside}${state.listed}${state.drawn}`
  const [larger, setLarger] = useState({ asked, rows: 0 })
  const isPicture = seen === 'graph' && !state.listed
  const rows = isPicture ? PICTURE_ROWS : larger.asked === asked && larger.rows || (FIRST_ROWS[isDiff && state.drawn ? 'flame' : seen] ?? 0)
  const more = () => setLarger({ asked, rows: rows * 10 })
  const flame = useAnswer<Packed<FlameHead>>(`${asked}${rows}`,
    () => seen === 'flame' && about.has_stacks ? session.flame(profile, flameOptions(live, rows)) : null)
  const boxes = useMemo(() => flame.value && new Boxes(flame.value.head, flame.value.columns), [flame.value])
  const isTable = !['flame', 'callers', 'source', 'diff'].includes(seen)
  const report = useAnswer<Report<any> & { of: View }>(`${asked}${rows}`,
    () => isTable ? session.report<any>(profile, viewOptions({ ...live, view: seen }, about, rows), isPicture ? PICTURE_LINES : rows).then(r => ({ ...r, of: seen })) : null)
  const facts = useAnswer<Report<Record<string, unknown>>>(`facts${shared}`, () => session.report(profile, [...options(state), ['view', 'stats']]))
  const untimed = useMemo(() => ({ ...state, filters: state.filters.filter(([name]) => name !== 'time' && !name.startsWith('tick')) }), [shared])
  const lanes = useAnswer<Packed<LanesHead>>(`lanes${JSON.stringify([untimed.filters, state.span])}${state.metric}`,
    () => about.has_times ? session.lanes(profile, options(untimed), slicesOf(about, state.span), ...(state.span ?? [])) : null)
  const callers = useAnswer<Report<CallersRow>>(`callers${JSON.stringify(state.selected)}${shared}`,
    () => state.selected && about.has_stacks ? callersOf(session, profile, state, state.selected) : null)
  // Of a function in several load objects, that of the selected one.
  const code = useAnswer<CodeReport>(`code${seen === 'source'}${JSON.stringify(state.selected)}${shared}`,
    () => seen === 'source' && state.selected
      ? loadCode(session, given, options({ ...state, level: 'function' }), state.selected.module ? `${state.selected.module}\`${state.selected.name}` : state.selected.name) : null)
  // What is compared, and under which filters.
  const own = given.selection ?? '', now = state.now || own
  const stored = useAnswer<Sides>(`sides${isDiff}${JSON.stringify([state.base, now])}`, () => isDiff && own && state.base
    ? Promise.all([state.base, now].map(s => loadSelection(session, given, s))).then(([old, it]) => ({ old: { profile: old!, name: state.base }, now: { profile: it!, name: now } })) : null)
  const whole = useAnswer<Range>(`whole${isDiff}`, () => isDiff && own && about.has_times ? session.lanes(profile, [], 1)
    .then(({ head }) => [0, head.whole_end + 1e9].map(ns => Math.floor((about.start_unix_ns + ns) / 1e9)) as Range) : null)
  const isStored = own && state.base, sides = isStored ? stored.busy ? null : stored.value : dropped
  const both = isStored ? sharedFilters(state.filters, [state.base, now], about.start_unix_ns) : state.filters
  const compared = { ...state, filters: both }
  const isDrawn = isDiff && state.drawn && about.has_stacks
  const changes = useAnswer<Packed<FlameHead>>(`changes${isDrawn}${JSON.stringify([sides, both])}${asked}${rows}${state.byOld}${state.shares}`,
    () => isDrawn && sides ? askChanges(session, sides, flameOptions(compared, rows), state) : null)
  const changed = useMemo(() => changes.value && new Boxes(changes.value.head, changes.value.columns), [changes.value])
  const diff = useAnswer<DiffReport>(`diff${isDiff}${JSON.stringify([sides, both])}${shared}${state.sort === 'inclusive'}${state.shares}`,
    () => isDiff && sides ? askDiff(session, sides, options(compared), state) : null)
  // When the selected function was on a stack.
  const marked = useAnswer<Packed<LanesHead>>(`marked${JSON.stringify([state.selected, state.level, untimed.filters, lanes.value?.head.begin, lanes.value?.head.slice])}${state.metric}`,
    () => state.selected && lanes.value && state.level === 'function'
      ? session.lanes(profile, [...options(untimed), [isZone(state.selected) ? 'zone' : 'focus', `^${quoteRegex(state.selected.name)}$`]], lanes.value.head.slices, lanes.value.head.begin, lanes.value.head.begin + lanes.value.head.slice * lanes.value.head.slices) : null)
  const hasMarks = about.has_threads && (about.has_zones || about.has_zone_events || about.metrics.some(m => m.unit === 'count' && m.total !== 0 && !['samples', 'zone-entries'].includes(m.name)))
  const search = useMemo(() => searchOf(state.search), [state.search])
  const sought = useSettled(state.search)
  const found = useAnswer<Report<unknown>>(`found${sought}${shared}`, () => sought && state.level === 'function' && about.has_stacks
    ? session.report(profile, [...options(state), ['focus', `(?i)${searchOf(sought)!.source}`], ['view', 'stats']]) : null)
  const kept = found.value?.filters.at(-1)?.kept
  const matched = kept === undefined || !facts.value ? '' : kept === 0 ? 'nowhere' : `in ${percent(kept, facts.value.total)}`
  const time = state.filters.find(([name]) => name === 'time')?.[1].split(':').map(t => Number(t.replace('ns', '')))

  const addFilter = async (name: string, value: string) => {
    const filters: [string, string][] = [...history.current.now.filters, [name, value]]
    try {
      // Asked before it is shown: a mistake is told where it was made.
      await session.report(profile, [...options({ ...history.current.now, filters }), ['view', 'stats']])
      setMessage('')
      go({ filters })
    } catch (error) {
      setMessage((error as Error).message)
    }
  }
  const setTime = (range: Range | null) => go({ filters: inTime(history.current.now.filters, range) })
  const follow = (range: Range | null) => {
    dragged.current = range
    if (range === null || !flame.busy && !report.busy) setFollowed(range)
  }
  useLayoutEffect(() => {
    if (!flame.busy && !report.busy) setFollowed(dragged.current)
  }, [flame.busy, report.busy])
  const [copied, setCopied] = useState('')
  const copy = async (what: string, text: string | Promise<string>) => {
    try {
      await toClipboard(await text)
      setCopied(`${what} copied`)
      setTimeout(() => setCopied(''), 2000)
    } catch (error) {
      setMessage((error as Error).message)
    }
  }
  const asText = textOptions(state, about, seen)
  const copyView = () => { if (asText) void copy('text', session.printed(profile, asText)) }
  const charge = (name: string) => {
    const selected = history.current.now.selected
    if (selected === null || isZone(selected) && name !== 'focus') return
    void addFilter(isZone(selected) ? 'zone' : name, name === 'when' ? quoteWhen(selected.name) : `^${quoteRegex(selected.name)}$`)
  }

  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || help) return
      if (target.matches('input, select, textarea')) {
        if (event.key === 'Escape') target.blur()
        return
      }
      const digit = VIEWS[Number(event.key) - 1]
      const actions: Record<string, () => void> = {
        '/': () => document.getElementById('search')!.focus(), u: undo, U: redo, '?': () => setHelp(true), t: () => setDark(d => !d),
        f: () => charge('focus'), i: () => charge('ignore'), h: () => charge('hide'), w: () => charge('when'),
        z: () => { if (time) go({ span: [time[0]!, time[1]!] }) }, Z: () => go({ span: null }),
        x: () => go({ filters: [] }), y: copyView, v: () => go({ inverted: !history.current.now.inverted }),
        c: () => go({ collapse: COLLAPSE[(COLLAPSE.indexOf(history.current.now.collapse) + 1) % COLLAPSE.length]! }),
      }
      const action = digit ? () => go({ view: digit }) : actions[event.key]
      if (!action) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', key)
    return () => document.removeEventListener('keydown', key)
  })

  const recursion = seen === 'flame' || seen === 'tree' || isDrawn
  const busy = seen === 'flame' ? flame.busy : isTable ? report.busy : seen === 'source' ? code.busy : isDiff ? stored.busy || diff.busy || isDrawn && changes.busy : callers.busy
  const error = seen === 'flame' ? flame.error : isTable ? report.error : seen === 'source' ? code.error : seen === 'callers' ? callers.error : ''
  const content = () => {
    if (error) return <p class="empty" role="alert">{error}</p>
    if (!isDiff && seen !== 'statistics' && state.filters.length > 0 && facts.value?.filters.at(-1)?.kept === 0)
      return <p class="empty">The filters leave nothing. Remove one of them above, or press u.</p>
    if (seen === 'flame')
      return boxes && <Flame boxes={boxes} zoom={state.zoom} selected={state.selected} search={search} dark={dark} busy={flame.busy || followed !== null}
        onZoom={zoom => go({ zoom })} onSelect={select} onMore={more} onCopy={text => void copy('stack', text)} />
    if (isDiff)
      return <Diff session={session} sides={sides} busy={stored.busy} error={stored.error} answer={diff} state={state} search={search}
        store={own ? {
          now: state.base ? fieldsOf(now) : withFilters(own, state.filters, about.start_unix_ns), base: state.base ? fieldsOf(state.base) : null, own: fieldsOf(own), range: whole.value,
          left: state.filters.filter(filter => !both.includes(filter)).map(([name]) => name),
          onSelections: (base, its) => go({ base: selectionOf(base), now: selectionOf(its) === own ? '' : selectionOf(its) }),
        } : null}
        onFile={file => { setDropped({ old: file, now: self }); if (state.base) go({ base: '', now: '' }) }}
        onSwap={() => sides === dropped ? setDropped({ old: dropped!.now, now: dropped!.old }) : go({ base: now, now: state.base === own ? '' : state.base })}
        onSelect={select} onChange={go} hasStacks={about.has_stacks}
        flame={changes.error ? <p class="empty" role="alert">{changes.error}</p> : isDrawn && changed && <Flame boxes={changed} zoom={state.zoom} selected={state.selected} search={search} dark={dark} busy={changes.busy}
          onZoom={zoom => go({ zoom })} onSelect={select} onMore={more} onCopy={text => void copy('stack', text)} />} />
    if (seen === 'source') {
      if (state.selected === null) return <p class="empty">Choose a function in another view: its code is then here.</p>
      return code.busy || code.value === null ? <p class="empty">…</p> : <Source report={code.value} />
    }
    if (seen === 'callers')
      return callers.busy ? <p class="empty">…</p> : <Butterfly report={callers.value} search={search} onSelect={select} />
    if (report.value === null || report.value.of !== seen) return <p class="empty">…</p>
    const shown = { report: report.value, state, search, onSelect: select }
    switch (seen) {
      case 'tree': return <Tree {...shown} limit={rows} onMore={more} />
      case 'functions': return <Functions {...shown} onSort={sort => go({ sort })} />
      case 'graph':
        return state.listed ? <Graph {...shown} limit={rows} onMore={more} /> : <GraphPicture report={report.value} selected={state.selected} search={search} onSelect={select} />
      case 'zones':
        return <div class="source">
          {lanes.value && lanes.value.columns.tick_start!.length > 0 && <Ticks lanes={lanes.value} from={time?.[0] ?? null} to={time?.[1] ?? null} dark={dark} onTime={setTime} />}
          <div class="text"><Zones {...shown} /></div>
        </div>
      case 'statistics': return <Statistics report={report.value} />
    }
  }
  const notes = facts.value?.notes ?? []
  const row = facts.value?.rows[0] ?? {}
  return (
    <>
      <Head about={about} state={state} dark={dark} whenError={message} matched={matched} onChange={change => 'search' in change ? set(change) : go(change)}
        onWhen={text => { if (text) void addFilter('when', text) }} onTheme={() => setDark(!dark)} onHelp={() => setHelp(true)} />
      <section class="time" aria-label="Time" aria-busy={lanes.busy}>
        {lanes.value && lanes.value.head.lanes.length > 0 && <Timeline lanes={lanes.value} marked={state.selected ? marked.value : null} marksOf={hasMarks ? (threads, slices, from, to) => session.marks(profile, options(untimed), threads, slices, from, to) : null} filtered={JSON.stringify([untimed.filters, state.metric])} from={time?.[0] ?? null} to={time?.[1] ?? null} dark={dark} selected={state.selected}
          isZoomed={state.span !== null} folds={state.folds} isBare={state.bare} onDrag={follow} onTime={setTime} onZone={(range, selected) => go({ filters: inTime(state.filters, range), selected })} onFilter={(name, id) => void addFilter(name, String(id))}
          onFold={pid => go({ folds: state.folds.includes(pid) ? state.folds.filter(p => p !== pid) : [...state.folds, pid] })} onBare={bare => go({ bare })}
          onZoom={(span, isStep) => (isStep ? go : set)({ span })} />}
      </section>
      <Chips about={about} state={state} kept={facts.value?.filters ?? []} total={about.metrics.find(m => m.name === (state.metric || about.metric))?.total ?? 0}
        unit={facts.value?.metric.unit ?? ''} canUndo={history.current.canUndo} canRedo={history.current.canRedo} copied={copied}
        onCopy={asText && copyView} onLink={() => void copy('link', location.href)}
        onRemove={i => go({ filters: state.filters.filter((_, k) => k !== i) })} onAdd={(n, v) => void addFilter(n, v)} onUndo={undo} onRedo={redo} />
      {message && <p class="message" role="alert">{message} <button aria-label="close the message" onClick={() => setMessage('')}>×</button></p>}
      <main>
        <section class="view" aria-busy={busy} aria-label={TITLES[seen]}>
          <div class="bar">
            <div class="tabs" role="tablist" aria-label="Views">
              {views.map(view => <button key={view} role="tab" aria-selected={view === seen} tabIndex={view === seen ? 0 : -1} onClick={() => go({ view })}
                onKeyDown={event => {
                  const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
                  if (by === 0) return
                  const next = views[(views.indexOf(seen) + by + views.length) % views.length]!
                  go({ view: next })
                  event.preventDefault()
                  requestAnimationFrame(() => document.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus())
                }}>{TITLES[view]}</button>)}
            </div>
            <span class="grow" />
            {busy && <button class="plain late" onClick={() => session.cancel()}>computing… cancel</button>}
            {recursion && <><span class="group"><span class="lab">recursion</span><Segments label="Recursion collapsed" values={COLLAPSE.map(c => [c, c] as const)} value={state.collapse} onChange={collapse => go({ collapse })} /></span>
              <span class="seg"><button aria-pressed={state.inverted} onClick={() => go({ inverted: !state.inverted })}>invert</button></span></>}
            {seen === 'functions' && metricsOf(state, about).length > 1 && <span class="seg"><button aria-pressed={state.beside} onClick={() => go({ beside: !state.beside })}>all metrics</button></span>}
            {seen === 'graph' && <Segments label="How the graph is shown" values={[['picture', 'picture'], ['list', 'list']]} value={state.listed ? 'list' : 'picture'} onChange={how => go({ listed: how === 'list' })} />}
            {['functions', 'tree', 'graph', 'flame', 'diff'].includes(seen) && <select aria-label="Level" value={state.level} onChange={event => go({ level: event.currentTarget.value as State['level'] })}>{LEVELS.map(l => <option key={l}>{l}</option>)}</select>}
          </div>
          <div class="content">{content()}</div>
        </section>
        <Inspector busy={callers.busy} report={callers.busy ? null : callers.value} isGone={callers.error !== ''} selected={state.selected} onSelect={select} onFilter={(n, v) => void addFilter(n, v)} onView={view => go({ view })} />
      </main>
      <footer>
        <span>{typeof row.counted === 'number' ? `${grouped(row.counted)} samples` : ''}{about.interval_ns ? `, one every ${amount(about.interval_ns, 'ns')}` : ''}{typeof row.lost === 'number' ? `, ${grouped(row.lost)} lost` : ''}</span>
        {notes.length > 0 && <button class="warn" onClick={() => go({ view: 'statistics' })} title={notes.map(noteText).join('\n')}>▲ {noteText(notes[0]!)}{notes.length > 1 ? ` and ${notes.length - 1} more` : ''}</button>}
        <span class="grow" />
        <span>{about.host}{about.start_unix_ns ? ` ${new Date(about.start_unix_ns / 1e6).toLocaleString()}` : ''}</span>
        <button onClick={() => setHelp(true)}>every figure: what it means</button>
      </footer>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  )
}

function Drop({ onFile, message }: { onFile(file: File): void; message: string }) {
  return (
    <div class="drop">
      <h1 class="logo">s<i>o</i>nde</h1>
      <p>Drop a profile here: a recording of sonde's, folded stacks, or a file of pprof, perf script, speedscope, callgrind, Chrome or the Firefox Profiler.</p>
      <p><label class="file">Choose a file<input type="file" onChange={event => { const file = event.currentTarget.files?.[0]; if (file) onFile(file) }} /></label></p>
      {message && <p role="alert" class="message">{message}</p>}
    </div>
  )
}

function Page({ session, first, failure }: { session: Session; first: Given | null; failure: string }) {
  const [given, setGiven] = useState(first)
  const [message, setMessage] = useState(failure)
  const open = async (file: File) => {
    try {
      const profile = await session.open(new Uint8Array(await file.arrayBuffer()), file.name)
      const about = await session.about(profile)
      window.history.replaceState(null, '', '#')
      document.title = `${file.name} – sonde`
      setMessage('')
      setGiven({ profile, about })
    } catch (error) {
      setMessage((error as Error).message)
    }
  }
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault()
    const drop = (event: DragEvent) => {
      event.preventDefault()
      const file = event.dataTransfer?.files[0]
      if (file) void open(file)
    }
    document.addEventListener('dragover', over)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', over)
      document.removeEventListener('drop', drop)
    }
  }, [])
  return given ? <App key={given.profile} session={session} given={given} /> : <Drop onFile={file => void open(file)} message={message} />
}

async function main(): Promise<void> {
  const place = document.getElementById('page')!
  const session = new Session(document.getElementById('worker')!.textContent!, await loadCompiled())
  let given: Given | null = null, failure = ''
  try {
    given = await loadFiles(session)
  } catch (error) {
    failure = (error as Error).message
  }
  // For tests: the same session.
  Object.assign(window, { sonde: { session, FIRST } })
  place.textContent = ''
  render(<Page session={session} first={given} failure={failure} />, place)
}

main().catch(error => {
  document.getElementById('page')!.textContent = `This page needs a current browser: ${error.message}`
})
