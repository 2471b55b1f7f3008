// Between the callers and the callees of a function: ribbons, as thick as what each call is worth, into
// the function and out of it.  What it spends itself ends there.  A picture of the figures beside it.

import type { CallLine } from './session'

export const LINE = 28 // of a caller or callee
export const TOP = 40 // of the first one
const WIDTH = 180, BOX = 46, MOST = 22, TALLEST = 420

interface Props { callers: CallLine[]; callees: CallLine[]; exclusive: number; inclusive: number }

// From a line's middle at one side to a stretch of the box at the other.
function ribbon(x0: number, y0: number, h0: number, x1: number, y1: number, h1: number): string {
  const middle = (x0 + x1) / 2
  return `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}L${x1} ${y1 + h1}C${middle} ${y1 + h1} ${middle} ${y0 + h0} ${x0} ${y0 + h0}Z`
}

export function Ribbons({ callers, callees, exclusive, inclusive }: Props) {
  const lines = Math.max(callers.length, callees.length, 3), all = Math.abs(inclusive) || 1
  const tall = Math.min(lines * LINE - 8, TALLEST), left = (WIDTH - BOX) / 2, right = left + BOX
  const part = (value: number) => Math.abs(value) / all * tall
  // start: where the first one meets the box.
  const side = (which: CallLine[], start: number, isLeft: boolean) => {
    let y = TOP + start
    return which.map((line, i) => {
      const h = part(line.attributed), at = TOP + i * LINE + LINE / 2, thick = Math.min(Math.max(h, 1), MOST)
      const path = isLeft ? ribbon(0, at - thick / 2, thick, left, y, Math.max(h, 1)) : ribbon(WIDTH, at - thick / 2, thick, right, y, Math.max(h, 1))
      y += h
      return line.attributed === 0 ? null : <path key={i} d={path} class={line.recursive ? 'again' : ''} />
    })
  }
  return (
    <svg class="ribbons" width={WIDTH} height={TOP + lines * LINE} aria-hidden="true">
      {side(callers, 0, true)}
      {side(callees, part(exclusive), false)}
      <rect x={left} y={TOP} width={BOX} height={tall} rx="4" class="box" />
      <rect x={left} y={TOP} width={BOX} height={part(exclusive)} rx="4" class="own" />
    </svg>
  )
}
