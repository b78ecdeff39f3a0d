/**
 * A number as Java prints a double, and so as Besu's JSON shows it: always with a digit after the point, and with an
 * exponent below a thousandth and from ten million on.
 */
export function javaDouble(value: number): string {
  const size = Math.abs(value);
  if (value === 0 || (size >= LOWEST_PLAIN && size < LOWEST_LARGE)) return withFraction(value.toString());
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  return `${withFraction(digits)}E${Number(exponent)}`;
}

const LOWEST_PLAIN = 1e-3;
const LOWEST_LARGE = 1e7;

function withFraction(digits: string): string {
  return digits.includes(".") ? digits : `${digits}.0`;
}
