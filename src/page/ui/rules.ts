// What each figure means, in a sentence (docs/semantics.md).

export const RULES: Record<string, string> = {
  exclusive: 'spent in it itself: the samples whose innermost frame it is',
  inclusive: 'spent in it and in what it called: the samples that hold it, each once, however deep it recurses',
  attributed: 'the part of a function’s inclusive figure that it spent for this caller; callers add up to inclusive',
  'in or under': 'the samples that pass here, each once: directly, and after recursion jumped back to a caller',
  'in only': 'the samples that end here; all of them add up to the total',
  self: 'spent in the function itself; in a line, for this caller or callee',
  children: 'spent in what the function called; in a line, for this caller or callee; calls within a cycle have none',
  entries: 'how often the zone was entered',
  'in a tick': 'inclusive, divided by the ticks of the stream',
  slowest: 'the tick in which the zone took longest',
}

// A figure's rule, and the figure to the last digit.
export const explain = (what: string, value: number, unit: string): string =>
  `${what}: ${RULES[what]}\n${value.toLocaleString('en')}${unit === 'count' ? '' : ` ${unit}`}`
