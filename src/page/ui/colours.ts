// Colours of boxes, which the module chooses (view/svg/colours.c): darker on a dark page.

const DARK = 0x15161a

// part of 256 of `to`, the rest of `from`.
export function mix(from: number, to: number, part: number): number {
  let mixed = 0
  for (let shift = 0; shift < 24; shift += 8)
    mixed |= (((from >> shift & 255) * (256 - part) + (to >> shift & 255) * part) >> 8) << shift
  return mixed
}

// Pale colours of changes stand for little: on a dark page, they are dark.
const NEUTRAL = 0x3a3d45

export function cssOfChange(rgb: number, dark: boolean): string {
  if (!dark) return css(rgb, dark)
  const parts = [rgb >> 16, rgb >> 8 & 255, rgb & 255], strong = Math.min((Math.max(...parts) - Math.min(...parts)) / 150, 1)
  return hex(mix(NEUTRAL, mix(rgb, DARK, 64), Math.round(strong * 256)))
}

const hex = (rgb: number) => '#' + rgb.toString(16).padStart(6, '0')

// As in WCAG 2.2.
function luminance(rgb: number): number {
  const [r, g, b] = [rgb >> 16, rgb >> 8 & 255, rgb & 255].map(part => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

// Of these and darker ones, white is easier to read on than black: either has 4.5 to 1 at least on its side.
const MIDDLE = 0.179
const darkened = new Map<number, string>()

export function css(rgb: number, dark: boolean): string {
  if (!dark) return hex(rgb)
  let made = darkened.get(rgb)
  if (made === undefined) {
    let part = 96
    while (luminance(mix(rgb, DARK, part)) > MIDDLE - 0.01) part += 8
    darkened.set(rgb, made = hex(mix(rgb, DARK, part)))
  }
  return made
}

// A colour, so strong, over that of the page.
export function over(colour: string, strength: number, dark: boolean): string {
  return hex(mix(dark ? 0x1c1e23 : 0xffffff, parseInt(colour.slice(1), 16), Math.round(strength * 256)))
}

export const inkOn = (colour: string): string => luminance(parseInt(colour.slice(1), 16)) > MIDDLE ? '#000' : '#fff'
