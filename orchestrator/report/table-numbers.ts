/** A share as percent with one decimal; "-" for none. */
export function percent(share: number | null): string {
  return share === null ? "-" : points(share);
}

export function interval(ci: readonly [number, number] | null): string {
  return ci === null ? "-" : `[${points(ci[0])}, ${points(ci[1])}]`;
}

export function signedPoints(share: number): string {
  const text = points(share);
  return text.startsWith("-") ? text : `+${text}`;
}

export function pValue(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}

function points(share: number): string {
  const text = (share * 100).toFixed(1);
  return text === "-0.0" ? "0.0" : text;
}
