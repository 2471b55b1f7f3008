// The selected function's code: source lines and instructions, each with its figures, and what is
// inlined at a line below it.  Texts are those that the page carries, or of the server that sent it;
// without either, lines and addresses are shown by their numbers.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { CodeReport, CodeRow } from './session'
import { Heading, Table } from './table'
import { amount, noteText, percent } from './units'

type Kind = 'both' | 'source' | 'asm'
const KINDS: [Kind, string][] = [['both', 'source and instructions'], ['source', 'source'], ['asm', 'instructions']]

const isOf = (row: CodeRow, kind: Kind) => kind === 'both' || (row.kind === 'instruction') === (kind === 'asm')

// The rows with figures of their own, the heaviest first.
function hottestOf(rows: CodeRow[]): number[] {
  return rows.map((row, i) => [Math.abs(row.exclusive), i] as const).filter(([weight]) => weight > 0)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]).map(([, i]) => i)
}

function place(row: CodeRow, before: CodeRow | undefined): string {
  if (row.kind === 'instruction') return row.address === null ? '' : row.address.toString(16)
  if (row.kind === 'inline') return ''
  return row.line === null ? '?' : before && before.file !== row.file && row.file ? `${row.file.split('/').pop()}:${row.line}` : `${row.line}`
}

function Text({ row }: { row: CodeRow }) {
  if (row.kind === 'inline')
    return <span role="gridcell" class="name code inline" style={{ paddingLeft: `${16 * row.depth}px` }} title={row.function ?? ''}>
      <b>inlined</b>{row.function}{row.line !== null && <em>{row.file?.split('/').pop()}:{row.line}</em>}{row.text !== null && <em>{row.text.trim()}</em>}
    </span>
  return <span role="gridcell" class="name code">{row.text === null ? <em>text not known</em> : row.text.replace(/\t/g, '    ')}</span>
}

interface Props { report: CodeReport }

export function Source({ report }: Props) {
  const [kind, setKind] = useState<Kind>('both')
  const has = (what: Kind) => report.rows.some(row => isOf(row, what))
  const shown: Kind = kind === 'both' || has(kind) ? kind : 'both'
  const rows = useMemo(() => report.rows.filter(row => isOf(row, shown)), [report, shown])
  const hottest = useMemo(() => hottestOf(rows), [rows])
  const most = hottest.length ? Math.abs(rows[hottest[0]!]!.exclusive) : 0
  const [cursor, setCursor] = useState(hottest[0] ?? 0)
  const { unit } = report.metric
  useEffect(() => setCursor(hottest[0] ?? 0), [hottest])

  // By weight: the next one, or the one before.
  const step = (by: number) => {
    const at = hottest.indexOf(cursor)
    setCursor(hottest[at < 0 ? 0 : (at + by + hottest.length) % hottest.length] ?? 0)
  }
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'n' && event.key !== 'N') return false
    step(event.key === 'n' ? 1 : -1)
    return true
  }
  const figure = (value: number) => value === 0
    ? <><span role="gridcell" class="n" /><span role="gridcell" class="n p" /></>
    : <><span role="gridcell" class="n">{amount(value, unit, report.total)}</span><span role="gridcell" class="n p">{percent(value, report.total)}</span></>
  return (
    <div class="source">
      <div class="about">
        <b>{report.function.name}</b>
        <span>{report.function.file ? `${report.function.file}:${report.function.line ?? '?'}` : 'its source file is not known'}</span>
        {report.notes.map((note, i) => <span key={i} class="note" title={noteText(note)}>{noteText(note)}</span>)}
        <span class="grow" />
        {has('asm') && has('source') && <select aria-label="Code" value={shown} onChange={event => setKind(event.currentTarget.value as Kind)}>{KINDS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select>}
        {hottest.length > 1 && <span class="seg"><button onClick={() => step(-1)} title="the hotter line"><kbd>N</kbd> hotter</button><button onClick={() => step(1)} title="the next hottest line"><kbd>n</kbd> next hottest</button></span>}
      </div>
      <div class="text">
        <Table count={rows.length} label="Code" cursor={cursor} onCursor={setCursor} onKey={key}
          head={<><Heading what="exclusive" kind="n two" /><Heading what="inclusive" kind="n two" /><span role="columnheader" class="n at">line</span><span role="columnheader" class="name">code</span></>}
          row={i => {
            const row = rows[i]!
            return <>
              <i class="heat" style={{ opacity: most ? Math.abs(row.exclusive) / most : 0 }} />
              {figure(row.exclusive)}{figure(row.inclusive)}
              <span role="gridcell" class="n at">{place(row, rows[i - 1])}</span>
              <Text row={row} />
            </>
          }} />
      </div>
    </div>
  )
}
