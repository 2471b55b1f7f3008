// Colours of boxes, which the module chooses (view/svg/colours.c): darker on a dark page.

const DARK = 0x15161a

// part of 256 of `to`, the rest of `from`.
function mix(from: number, to: number, part: number): number {
  let mixed = 0
  for (let shift = 0; shift < 24; shift += 8)
    mixed |= (((from >> shift & 255) * (256 - part) + (to >> shift & 255) * part) >> 8) << shift
  return mixed
}

export function css(rgb: number, dark: boolean): string {
  return '#' + (dark ? mix(rgb, DARK, 96) : rgb).toString(16).padStart(6, '0')
}
