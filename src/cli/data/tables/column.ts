/**
 * The kind of values in a column. A missing value is never refused, but becomes null.
 *
 *   bytes         bytes in Parquet, hexadecimal text elsewhere
 *   text          text as it is; hexadecimal where the table has its bytes so
 *   list          JSON: a list; elsewhere its items, separated by commas
 *   uint32 … float64   a whole number as Parquet's type of that name. One that does not fit is null in Parquet, and
 *                 written in full elsewhere (a float64 is rounded)
 *   uint256       decimal digits, as text
 *   uint256Bytes  32 bytes, the most significant first
 */
export type Kind =
  | "bytes"
  | "text"
  | "list"
  | "boolean"
  | "uint32"
  | "uint64"
  | "int64"
  | "float64"
  | "uint256"
  | "uint256Bytes";

/** A column of a table whose rows are made of `R`. */
export interface Column<R> {
  readonly name: string;
  readonly kind: Kind;
  /** True for a column that is only written with --columns=all. */
  readonly isExtra: boolean;
  /** The value as JSON-RPC returns it; undefined or null for none. */
  of(row: R): unknown;
}

/** Makes a column; `extra` makes one that is written only with --columns=all. */
export function column<R>(name: string, kind: Kind, of: (row: R) => unknown): Column<R> {
  return { name, kind, of, isExtra: false };
}

export function extra<R>(name: string, kind: Kind, of: (row: R) => unknown): Column<R> {
  return { name, kind, of, isExtra: true };
}

/** Cryo writes 256-bit numbers three times: exactly as bytes and as digits, and rounded for quick sums. */
export function amount<R>(
  make: (name: string, kind: Kind, of: (row: R) => unknown) => Column<R>,
  name: string,
  of: (row: R) => unknown,
): readonly Column<R>[] {
  return [
    make(`${name}_binary`, "uint256Bytes", of),
    make(`${name}_string`, "uint256", of),
    make(`${name}_f64`, "float64", of),
  ];
}
