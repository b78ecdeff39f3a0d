export const MAX_JAVA_LONG = 2n ** 63n - 1n;

/** The number that Java's Long.decode reads from a text. Undefined for any other text, and for more than 64 bits. */
export function parseJavaLong(text: string): bigint | undefined {
  const number = parseJavaNumber(text);
  return number === undefined || number > MAX_JAVA_LONG || number < -MAX_JAVA_LONG - 1n ? undefined : number;
}

/**
 * The number of a text that is written as Java's Long.decode reads them: decimal, hexadecimal after 0x or #, octal after 0; an optional
 * sign; 64 digits at most. Undefined for any other text.
 */
export function parseJavaNumber(text: string): bigint | undefined {
  const [, sign, prefix = "", digits = ""] = JAVA_NUMBER.exec(text) ?? [];
  const literal =
    prefix === "" ? octalOrDecimal(digits) : /^[0-9a-f]+$/i.test(digits) ? `0x${digits}` : undefined;
  if (literal === undefined) return undefined;
  const magnitude = BigInt(literal);
  return sign === "-" ? -magnitude : magnitude;
}

const JAVA_NUMBER = /^([+-]?)(0x|0X|#)?([0-9a-fA-F]{1,64})$/;

function octalOrDecimal(digits: string): string | undefined {
  if (/^0[0-7]+$/.test(digits)) return `0o${digits.slice(1)}`;
  return /^(0|[1-9][0-9]*)$/.test(digits) ? digits : undefined;
}
