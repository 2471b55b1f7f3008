// Figures as people read them: the units and the rounding of sonde's text.

export function grouped(n: number): string {
  return n.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

function fixed(value: number): string {
  const text = value.toFixed(3)
  const dot = text.indexOf('.')
  return grouped(Number(text.slice(0, dot))).replace(/^0$/, value < 0 ? '-0' : '0') + text.slice(dot)
}

const TIMES: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']]
const SIZES: [number, string][] = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']]

// largest: of the figures it stands among, which have one unit.
export function amount(value: number, unit: string, largest = Math.abs(value)): string {
  const steps = unit === 'ns' ? TIMES : unit === 'bytes' ? SIZES : []
  if (value === 0) return '0'
  for (const [size, name] of steps)
    if (largest >= size) return `${fixed(value / size)} ${name}`
  return unit === 'ns' ? `${grouped(value)} ns` : grouped(value)
}

export function percent(value: number, total: number): string {
  if (total === 0) return ''
  if (value === 0) return '0'
  const part = 100 * value / total
  if (Math.abs(part) < 0.05) return part < 0 ? '>-0.1%' : '<0.1%'
  return `${part.toFixed(1)}%`
}

// A moment or a duration in ns, to three digits or so.
export function duration(ns: number): string {
  for (const [size, name] of TIMES)
    if (Math.abs(ns) >= size) return `${Number((ns / size).toPrecision(4))} ${name}`
  return `${Math.round(ns)} ns`
}
