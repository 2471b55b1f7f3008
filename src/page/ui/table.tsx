// Tables of any length: only the rows in sight are in the page.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { RULES } from './rules'

export const ROW_HEIGHT = 24

// The head of a column of figures; what they mean is its tip.
export const Heading = ({ what, of = '', kind = 'n' }: { what: string; of?: string; kind?: string }) =>
  <span role="columnheader" class={kind} title={RULES[what]}>{what}{of}</span>

interface Props {
  count: number
  label: string
  head?: ComponentChildren
  row(i: number): ComponentChildren
  isSelected?(i: number): boolean
  cursor: number
  onCursor(i: number): void
  onKey?(event: KeyboardEvent, i: number): boolean // whether the key was used
}

export function Table({ count, label, head, row, isSelected, cursor, onCursor, onKey }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })

  useLayoutEffect(() => {
    const element = box.current!
    const see = () => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(see)
    observer.observe(element)
    element.addEventListener('scroll', see)
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', see)
    }
  }, [])
  const show = (i: number) => {
    const element = box.current!, y = i * ROW_HEIGHT, above = head ? ROW_HEIGHT : 0
    if (y < element.scrollTop) element.scrollTop = y
    else if (y + ROW_HEIGHT + above > element.scrollTop + element.clientHeight)
      element.scrollTop = y + ROW_HEIGHT + above - element.clientHeight
  }
  useLayoutEffect(() => {
    if (cursor >= 0 && cursor < count) show(cursor)
  }, [cursor, count])
  const key = (event: KeyboardEvent) => {
    const page = Math.max(Math.floor(view.height / ROW_HEIGHT) - 2, 1)
    const to: Record<string, number> = {
      ArrowDown: cursor + 1, ArrowUp: cursor - 1, PageDown: cursor + page, PageUp: cursor - page, Home: 0, End: count - 1,
    }
    if (onKey?.(event, cursor)) {
      event.preventDefault()
      event.stopPropagation()
      return
    }
    if (!(event.key in to) || count === 0) return
    onCursor(Math.min(Math.max(to[event.key]!, 0), count - 1))
    event.preventDefault()
    event.stopPropagation()
  }
  const first = Math.max(Math.floor(view.top / ROW_HEIGHT) - 4, 0)
  const last = Math.min(Math.ceil((view.top + view.height) / ROW_HEIGHT) + 4, count)
  const shown = []
  for (let i = first; i < last; i++)
    shown.push(
      <div key={i} role="row" aria-rowindex={i + 1} aria-selected={isSelected?.(i) ?? i === cursor}
        class={`row${i === cursor ? ' cursor' : ''}${isSelected?.(i) ? ' selected' : ''}`}
        style={{ top: `${i * ROW_HEIGHT}px` }} onClick={() => onCursor(i)}>{row(i)}</div>)
  return (
    <div class="table" ref={box} tabIndex={0} role="grid" aria-label={label} aria-rowcount={count} onKeyDown={key}>
      {head && <div class="head" role="row">{head}</div>}
      <div class="rows" role="rowgroup" style={{ height: `${count * ROW_HEIGHT}px` }}>{shown}</div>
      {count === 0 && <p class="empty" role="row"><span role="gridcell">Nothing is left: the filters keep no rows.</span></p>}
    </div>
  )
}
