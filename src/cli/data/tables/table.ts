import type { BlockData, Need } from "./blockData.ts";
import type { Column, Kind } from "./column.ts";

/** A table of an export, with one file for each range of blocks. */
export interface Table {
  readonly name: string;
  readonly needs: readonly Need[];
  /** All columns that this schema has for the table. */
  readonly columns: readonly ColumnName[];
  /** The values of each row of a block, in the order of `columns`. */
  rowsOf(data: BlockData): Iterable<readonly unknown[]>;
}

/** A column as its file sees it. */
export interface ColumnName {
  readonly name: string;
  readonly kind: Kind;
}

interface Definition<R> {
  readonly name: string;
  readonly needs: readonly Need[];
  readonly columns: readonly Column<R>[];
  rows(data: BlockData): Iterable<R>;
}

/** A table as its schema defines it; `choose` returns it with the columns to write. */
export interface TableDefinition {
  readonly name: string;
  choose(columns: "default" | "all"): Table;
}

export function defineTable<R>({ name, needs, columns, rows }: Definition<R>): TableDefinition {
  return {
    name,
    choose(which) {
      const chosen = columns.filter(({ isExtra }) => which === "all" || !isExtra);
      return {
        name,
        needs,
        columns: chosen,
        *rowsOf(data) {
          for (const row of rows(data)) yield chosen.map(({ of }) => of(row));
        },
      };
    },
  };
}
