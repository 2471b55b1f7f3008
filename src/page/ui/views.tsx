// The views that are tables: functions, tree, callers, graph, zones and statistics.  Figures are
// the reports'; a bar behind a figure is its share of the total.

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { CallersRow, CallLine, FunctionRow, Report, TreeRow } from './session'
import { sum } from './inspector'
import { Ribbons } from './ribbons'
import { chosen, isIt, type Selected, type State } from './state'
import { explain, RULES } from './rules'
import { Heading, Table } from './table'
import { amount, grouped, noteText, percent } from './units'

interface Shown<Row> {
  report: Report<Row>
  state: State
  search: RegExp | null
  onSelect(selected: Selected): void
}

function Figure({ what, value, report }: { what: string; value: number | null; report: Report<unknown> }) {
  if (value === null) return <><span role="gridcell" class="n" /><span role="gridcell" class="n p" /></>
  return <>
    <span role="gridcell" class="n" title={explain(what, value, report.metric.unit)}>{amount(value, report.metric.unit, report.total)}</span>
    <span role="gridcell" class="n p"><i class="bar" style={{ width: `${report.total ? Math.min(100 * Math.abs(value / report.total), 100) : 0}%` }} />{percent(value, report.total)}</span>
  </>
}

function Name({ row, search, children }: { row: { name: string; module: string | null }; search: RegExp | null; children?: ComponentChildren }) {
  return <span role="gridcell" class={`name${search?.test(row.name) ? ' hit' : ''}`} title={row.name}>{children}{row.name}{row.module && <em>{row.module}</em>}</span>
}

interface FunctionsProps extends Shown<FunctionRow> { onSort(sort: State['sort']): void }

export function Functions({ report, state, search, onSelect, onSort }: FunctionsProps) {
  const rows = report.rows
  const cursor = rows.findIndex(row => isIt(row, state.selected))
  const heading = (sort: State['sort'], text: string, kind: string) =>
    <span role="columnheader" class={kind} title={RULES[sort]} aria-sort={state.sort === sort ? 'descending' : 'none'}><button onClick={() => onSort(sort)}>{text}{state.sort === sort ? ' ▾' : ''}</button></span>
  const which = state.sort === 'inclusive' ? 'inclusive' : 'exclusive'
  const others = report.metrics?.slice(1) ?? []
  return (
    <Table count={rows.length} label="Functions" cursor={cursor} onCursor={i => onSelect(chosen(rows[i]!))} isSelected={i => isIt(rows[i]!, state.selected)}
      head={<>{heading('exclusive', 'exclusive', 'n two')}{heading('inclusive', 'inclusive', 'n two')}{others.map(m => <span key={m.name} role="columnheader" class="n" title={`${m.name}, ${which}: ${RULES[which]}`}>{m.name}</span>)}{heading('name', state.level, 'name')}</>}
      row={i => <><Figure what="exclusive" value={rows[i]!.exclusive} report={report} /><Figure what="inclusive" value={rows[i]!.inclusive} report={report} />
        {others.map((m, k) => <span key={m.name} role="gridcell" class="n" title={explain(which, rows[i]!.metrics![k + 1]![which], m.unit)}>{amount(rows[i]!.metrics![k + 1]![which], m.unit, m.total)}</span>)}<Name row={rows[i]!} search={search} /></>} />
  )
}

interface Limited { limit: number; onMore(): void }

function Heaviest({ what, limit, onMore, children }: Limited & { what: string; children: ComponentChildren }) {
  return <div class="source">
    <p class="about">The {limit.toLocaleString('en')} heaviest {what}. <button onClick={onMore}>Show ten times as many</button></p>
    <div class="text">{children}</div>
  </div>
}

export function Tree({ report, state, search, limit, onSelect, onMore }: Shown<TreeRow> & Limited) {
  const rows = report.rows
  const ends = useMemo(() => {
    const end = new Uint32Array(rows.length), path: number[] = []
    rows.forEach((row, i) => {
      while (path.length >= row.level) end[path.pop()!] = i
      path.push(i)
    })
    for (const i of path) end[i] = rows.length
    return end
  }, [rows])
  // Opened along the heaviest path: a child is opened with its caller if it has half of it.
  const initial = useMemo(() => {
    const open = new Set<number>()
    const last: number[] = [] // by level
    const weight = (row: TreeRow) => (row.direct ?? 0) + (row.indirect ?? 0)
    rows.forEach((row, i) => {
      const caller = last[row.level - 1]
      const above = caller === undefined ? report.total : weight(rows[caller]!)
      if (row.kind === 'node' && Math.abs(weight(row)) * 2 >= Math.abs(above) && (caller === undefined || open.has(caller))) open.add(i)
      last.length = row.level
      last[row.level] = i
    })
    return open
  }, [rows])
  const [open, setOpen] = useState(initial)
  useEffect(() => setOpen(initial), [initial])
  const [cursor, setCursor] = useState(0)
  const shown = useMemo(() => {
    const list: number[] = []
    for (let i = 0; i < rows.length; i = open.has(i) ? i + 1 : ends[i]!) list.push(i)
    return list
  }, [rows, open, ends])
  useEffect(() => {
    if (state.selected && shown[cursor] !== undefined && isIt(rows[shown[cursor]!]!, state.selected)) return
    const found = shown.findIndex(i => isIt(rows[i]!, state.selected))
    if (found >= 0) setCursor(found)
  }, [state.selected, rows])
  const toggle = (i: number, to = !open.has(i)) => {
    const next = new Set(open)
    if (to) next.add(i)
    else next.delete(i)
    setOpen(next)
  }
  const reveal = (row: number) => {
    const next = new Set(open)
    for (let i = 0; i < row; i++) if (ends[i]! > row) next.add(i)
    setOpen(next)
    let place = 0
    for (let i = 0; i < row; i = next.has(i) ? i + 1 : ends[i]!) place++
    setCursor(place)
    onSelect(chosen(rows[row]!))
  }
  const move = (place: number) => {
    setCursor(place)
    const row = rows[shown[place]!]!
    onSelect(chosen(row))
  }
  const key = (event: KeyboardEvent, place: number) => {
    const i = shown[place]
    if (i === undefined) return false
    const hasChildren = ends[i]! > i + 1
    if (event.key === 'ArrowRight' && hasChildren && !open.has(i)) toggle(i, true)
    else if (event.key === 'ArrowRight' && hasChildren) move(place + 1)
    else if (event.key === 'ArrowLeft' && open.has(i) && hasChildren) toggle(i, false)
    else if (event.key === 'ArrowLeft') {
      const parent = shown.slice(0, place).reverse().find(k => rows[k]!.level < rows[i]!.level)
      if (parent === undefined) return false
      move(shown.indexOf(parent))
    } else if (event.key === 'Enter' && rows[i]!.target !== null) reveal(rows[i]!.target!)
    else if (event.key === '*') setOpen(new Set(rows.keys()))
    else return false
    return true
  }
  const table = (
    <Table count={shown.length} label="Call tree" cursor={cursor} onCursor={move} onKey={key} isSelected={place => isIt(rows[shown[place]!]!, state.selected)}
      head={<><Heading what="in or under" kind="n two" /><Heading what="in only" kind="n two" /><span role="columnheader" class="name">function, direct (indirect) where recursion was collapsed</span></>}
      row={place => {
        const i = shown[place]!, row = rows[i]!, hasChildren = ends[i]! > i + 1
        return <>
          <Figure what="in or under" value={row.direct === null ? null : row.direct + (row.indirect ?? 0)} report={report} />
          <Figure what="in only" value={row.in_only} report={report} />
          <span role="gridcell" class={`name${search?.test(row.name) ? ' hit' : ''}`} style={{ paddingLeft: `${Math.min(row.level - 1, 60) * 14}px` }} title={row.name}>
            {hasChildren
              ? <button class="twist" aria-label={open.has(i) ? `close ${row.name}` : `open ${row.name}`} onClick={event => { event.stopPropagation(); toggle(i) }}>{open.has(i) ? '▾' : '▸'}</button>
              : <span class="twist" />}
            {row.kind === 'stub'
              ? <button class="stub" onClick={event => { event.stopPropagation(); reveal(row.target!) }}>↺ {row.name}…</button>
              : <>{row.name}{row.module && <em>{row.module}</em>}{row.indirect ? <em class="indirect">{amount(row.direct!, report.metric.unit, report.total)} ({amount(row.indirect, report.metric.unit, report.total)})</em> : null}</>}
          </span>
        </>
      }} />
  )
  return rows.length < limit ? table : <Heaviest what="rows" limit={limit} onMore={onMore}>{table}</Heaviest>
}

// A function can have tens of thousands of callers.
const FIRST_LINES = 200

const WEIGHTLESS = 'each of these calls leads to another one of the function further in: its weight is counted there'

function Lines({ title, lines, report, search, onSelect, base, count, onMore }: { title: string; lines: CallLine[]; report: Report<unknown>; search: RegExp | null; onSelect(s: Selected): void; base: number; count: number; onMore(): void }) {
  // Last, and without weight: it is where the recursion goes on.
  const [all, setAll] = useState(false), weightless = lines.findIndex(line => line.recursive && line.attributed === 0)
  const hidden = all || weightless < 0 ? 0 : lines.length - weightless, shown = Math.min(count, lines.length - hidden)
  return (
    <section class="lines" aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {lines.slice(0, shown).map((line, i) => <li key={i}>
          <button class={search?.test(line.name) ? 'hit' : ''} disabled={line.name === '<Total>'} onClick={() => onSelect(chosen(line))}>
            <span class="name" title={line.name}>{line.name === '<Total>' ? '(outermost)' : line.name}{line.module && <em>{line.module}</em>}{line.recursive && <em class="indirect">recursive</em>}</span>
            {line.recursive && line.attributed === 0 ? <span class="n" title={WEIGHTLESS}>–</span> : <>
              <span class="n" title={explain('attributed', line.attributed, report.metric.unit)}>{amount(line.attributed, report.metric.unit, report.total)}</span>
              <span class="n p"><i class="bar" style={{ width: `${base ? Math.min(100 * Math.abs(line.attributed / base), 100) : 0}%` }} />{percent(line.attributed, report.total)}</span>
            </>}
          </button>
        </li>)}
        {shown === count && lines.length - hidden > count && <li><button onClick={onMore}>and {(lines.length - hidden - count).toLocaleString('en')} more: show ten times as many</button></li>}
        {hidden > 0 && <li><button title={WEIGHTLESS} onClick={() => setAll(true)}>↺ {hidden.toLocaleString('en')} in recursion only, without weight here</button></li>}
        {lines.length === 0 && <li class="empty">none</li>}
      </ul>
    </section>
  )
}

interface ButterflyProps { report: Report<CallersRow> | null; search: RegExp | null; onSelect(selected: Selected): void }

export function Butterfly({ report, search, onSelect }: ButterflyProps) {
  const row = report?.rows[0]
  const [open, setOpen] = useState({ row, count: FIRST_LINES })
  const count = open.row === row ? open.count : FIRST_LINES
  if (!report || !row) return <p class="empty">Choose a function: in the flame graph, the tree or the list of functions.</p>
  const figure = (value: number) => amount(value, report.metric.unit, report.total)
  const shared = { report, search, onSelect, base: row.inclusive, count, onMore: () => setOpen({ row, count: count * 10 }) }
  return (
    <div class="butterfly">
      <Lines title={`Callers of ${row.name}`} lines={row.callers} {...shared} />
      <Ribbons callers={row.callers.slice(0, count)} callees={row.callees.slice(0, count)} exclusive={row.exclusive} inclusive={row.inclusive} />
      <Lines title={`What ${row.name} calls`} lines={row.callees} {...shared} />
      <p class="sum">callers {figure(sum(row.callers))} = inclusive {figure(row.inclusive)} = exclusive {figure(row.exclusive)} + callees {figure(sum(row.callees))}</p>
    </div>
  )
}

export interface GraphLine { name: string; module: string | null; index: number | null; self: number | null; children: number | null }
export interface GraphRow {
  index: number
  name: string
  module: string | null
  kind: 'function' | 'cycle'
  cycle: number
  percent: number
  self: number
  children: number
  callers: GraphLine[]
  members: GraphLine[]
  callees: GraphLine[]
}

type Placed = { row: GraphRow; line: GraphLine | null; part: string }

export function Graph({ report, state, search, limit, onSelect, onMore }: Shown<GraphRow> & Limited) {
  const placed = useMemo(() => report.rows.flatMap((row): Placed[] => [
    ...row.callers.map(line => ({ row, line, part: 'caller' })),
    { row, line: null, part: row.kind },
    ...row.members.map(line => ({ row, line, part: 'member' })),
    ...row.callees.map(line => ({ row, line, part: 'callee' })),
  ]), [report])
  const [cursor, setCursor] = useState(0)
  useEffect(() => {
    const found = placed.findIndex(p => p.line === null && isIt(p.row, state.selected))
    if (found >= 0) setCursor(found)
    else if (state.selected && report.rows.length >= limit) onMore()
  }, [state.selected, placed])
  const table = (
    <Table count={placed.length} label="Call graph" cursor={cursor}
      onCursor={i => { setCursor(i); const p = placed[i]!; onSelect(chosen(p.line ?? p.row)) }}
      isSelected={i => placed[i]!.line === null && isIt(placed[i]!.row, state.selected)}
      head={<><Heading what="self" kind="n two" /><Heading what="children" kind="n two" /><span role="columnheader" class="name">callers above, callees below each function; recursion is a cycle</span></>}
      row={i => {
        const { row, line, part } = placed[i]!
        const own = line ?? row
        return <>
          <Figure what="self" value={own.self} report={report} />
          <Figure what="children" value={own.children} report={report} />
          <span role="gridcell" class={`name ${line ? 'line' : 'entry'}${search?.test(own.name) ? ' hit' : ''}`} title={own.name}>
            {line ? <em>{part}</em> : <b>[{row.index}]</b>}{own.name}{own.module && <em>{own.module}</em>}{!line && row.cycle > 0 && <em class="indirect">cycle {row.cycle}</em>}
          </span>
        </>
      }} />
  )
  return report.rows.length < limit ? table : <Heaviest what="functions, each with as many callers and callees at most" limit={limit} onMore={onMore}>{table}</Heaviest>
}

export interface ZoneRow extends FunctionRow {
  entries: number | null
  ticks: number | null
  inclusive_per_tick: number | null
  slowest_tick: number | null
}

export function Zones({ report, state, search, onSelect }: Shown<ZoneRow>) {
  const rows = report.rows
  return (
    <Table count={rows.length} label="Zones" cursor={rows.findIndex(r => isIt(r, state.selected))} onCursor={i => onSelect(chosen(rows[i]!))} isSelected={i => isIt(rows[i]!, state.selected)}
      head={<><Heading what="exclusive" kind="n two" /><Heading what="inclusive" kind="n two" /><Heading what="entries" /><Heading what="in a tick" /><Heading what="slowest" /><span role="columnheader" class="name">zone</span></>}
      row={i => {
        const row = rows[i]!
        return <>
          <Figure what="exclusive" value={row.exclusive} report={report} /><Figure what="inclusive" value={row.inclusive} report={report} />
          <span role="gridcell" class="n">{row.entries === null ? '' : grouped(row.entries)}</span>
          <span role="gridcell" class="n">{row.inclusive_per_tick === null ? '' : amount(row.inclusive_per_tick, report.metric.unit)}</span>
          <span role="gridcell" class="n">{row.slowest_tick === null ? '' : grouped(row.slowest_tick)}</span>
          <Name row={row} search={search} />
        </>
      }} />
  )
}

const FACTS: [string, string, string][] = [
  ['counted', 'samples', 'in the profile'], ['expected', 'expected', 'by the clock'], ['lost', 'lost', 'taken and not kept'],
  ['foreign', 'in foreign code', 'in no known function'], ['critical', 'stacks not whole', 'truncated, or with a guessed caller'],
  ['guessed', 'guessed stacks', 'the part of these with a guessed caller'],
  ['excluded', 'excluded', 'by --when'], ['duration_ns', 'ran for', 'from start to end'], ['cpu_ns', 'used CPU for', 'as the system accounts it'],
  ['interval_ns', 'one sample every', 'as achieved'], ['fit', 'fit as evidence', 'what is lost, cut or unaccounted is little'],
]

export function Statistics({ report }: { report: Report<Record<string, unknown>> }) {
  const row = report.rows[0] ?? {}
  const text = (key: string) => {
    const value = row[key]
    if (value === null || value === undefined) return 'not known'
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    return key.endsWith('_ns') ? amount(value as number, 'ns') : grouped(value as number)
  }
  return (
    <div class="facts" tabIndex={0}>
      <table>
        <caption>How the profile was recorded</caption>
        <tbody>{FACTS.map(([key, name, meaning]) => <tr key={key}><th scope="row">{name}</th><td class="n">{text(key)}</td><td>{meaning}</td></tr>)}</tbody>
      </table>
      {report.notes.length > 0 && <><h2>Notes</h2><ul>{report.notes.map((note, i) => <li key={i}>{noteText(note)}</li>)}</ul></>}
    </div>
  )
}
