// Figures as people read them: the units and the rounding of sonde's text (view/text/units.c), in
// integers throughout, as there.

interface Scale { name: string; divisor: number; decimals: number }

const COUNT: Scale[] = [{ name: '', divisor: 1, decimals: 0 }]
// Finer ones first.
const SCALES: Record<string, Scale[]> = {
  ns: [{ name: ' ns', divisor: 1, decimals: 0 }, { name: ' us', divisor: 1e3, decimals: 3 }, { name: ' ms', divisor: 1e6, decimals: 3 }, { name: ' s', divisor: 1e9, decimals: 3 }],
  ppb: [{ name: ' ppb', divisor: 1, decimals: 0 }, { name: '%', divisor: 1e7, decimals: 2 }],
  bytes: [{ name: ' B', divisor: 1, decimals: 0 }, ...['KiB', 'MiB', 'GiB', 'TiB'].map((name, i) => ({ name: ` ${name}`, divisor: 2 ** (10 * (i + 1)), decimals: 2 }))],
}

export function grouped(n: number | bigint): string {
  return n.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

// value * power / divisor, to the nearest whole, a half upwards.
function scaled(value: number, divisor: number, power: number): bigint {
  return (BigInt(value) * BigInt(power) + BigInt(divisor) / 2n) / BigInt(divisor)
}

function decimal(figure: bigint, decimals: number): string {
  if (decimals === 0) return grouped(figure)
  const power = 10n ** BigInt(decimals)
  return `${grouped(figure / power)}.${(figure % power).toString().padStart(decimals, '0')}`
}

// largest: of the figures it stands among, which have one unit; a smaller one has it where all of its digits would be 0.
export function amount(value: number, unit: string, largest = value): string {
  const scales = SCALES[unit] ?? COUNT, size = Math.abs(value)
  if (value === 0) return '0'
  let i = scales.length - 1
  while (i > 0 && Math.abs(largest) < scales[i]!.divisor) i--
  while (i > 0 && scaled(size, scales[i]!.divisor, 10 ** scales[i]!.decimals) === 0n) i--
  const { name, divisor, decimals } = scales[i]!
  return `${value < 0 ? '-' : ''}${decimal(scaled(size, divisor, 10 ** decimals), decimals)}${name}`
}

export function percent(value: number, total: number): string {
  if (total === 0) return '-'
  if (value === 0) return '0'
  const sign = value < 0 === total < 0 ? '' : '-', tenths = scaled(Math.abs(value), Math.abs(total), 1000)
  return tenths === 0n ? `${sign}<0.1%` : `${sign}${decimal(tenths, 1)}%`
}

// A note as text has it: what it counts comes first, unless its text lists that (model/profile.c).
export const noteText = ({ kind, count, text }: { kind: string; count: number; text: string }): string =>
  count > 1 && !['no-symbols', 'incomplete', 'info'].includes(kind) ? `${grouped(count)} ${text}` : text

// A moment or a duration in ns, to three digits or so.
export function duration(ns: number): string {
  for (const { name, divisor } of [...SCALES.ns!].reverse())
    if (divisor > 1 && Math.abs(ns) >= divisor) return `${Number((ns / divisor).toPrecision(4))}${name}`
  return `${Math.round(ns)} ns`
}
