// Colours of boxes by load object, steady for a name: as src/view/svg/colours.c chooses them.

export const KERNEL = 0xeadbc4
const ALL = 0xe9e9e4
const PALETTE = [0x7fb2dc, 0x8cc9a8, 0xe3c27a, 0xc6a3d8, 0xe79a8b, 0x9fb6c9, 0xb6cf87, 0xd8a8bd, 0x86c5c9]

function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h ^= h >>> 15
  h = Math.imul(h, 0x2c1b3c6d)
  return (h ^ h >>> 13) >>> 0
}

// part of 256 of `to`, the rest of `from`.
function mix(from: number, to: number, part: number): number {
  let mixed = 0
  for (let shift = 0; shift < 24; shift += 8)
    mixed |= (((from >> shift & 255) * (256 - part) + (to >> shift & 255) * part) >> 8) << shift
  return mixed
}

const css = (rgb: number) => '#' + rgb.toString(16).padStart(6, '0')

// weights: of each load object.  The heaviest get different colours.
export class Colours {
  private readonly of = new Map<string, number>()
  private readonly alone: boolean

  constructor(weights: Map<string, number>, private readonly dark: boolean) {
    const taken = new Set<number>()
    this.alone = weights.size < 2
    ;[...weights].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).forEach(([module], i) => {
      let colour = hash(module) % PALETTE.length
      for (let k = 0; k < PALETTE.length && i < PALETTE.length && taken.has(colour); k++) colour = (colour + 1) % PALETTE.length
      taken.add(colour)
      this.of.set(module, colour)
    })
  }

  private shade(colour: number): string {
    return css(this.dark ? mix(colour, 0x15161a, 96) : colour)
  }

  get all(): string {
    return this.dark ? '#2d3038' : css(ALL)
  }

  box(name: string, module: string): string {
    const h = hash(name)
    if (module === '[kernel]') return this.shade(mix(KERNEL, 0xffffff, (h >>> 8) % 64))
    if (this.alone) return this.shade(PALETTE[h % PALETTE.length]!)
    return this.shade(mix(PALETTE[this.of.get(module) ?? 0]!, 0xffffff, (h >>> 8) % 72))
  }
}
