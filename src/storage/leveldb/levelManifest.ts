import { assert } from "../../primitives/assert.ts";
import { RecordReader } from "../blocks/byteRecord.ts";

/** The live files of a LevelDB folder, according to its manifest. */
interface LevelVersion {
  /** Length in bytes of each live table, by its number. */
  readonly tables: ReadonlyMap<number, number>;
  /** Number from which on logs have writes that are in no table yet. */
  readonly logNumber: number;
}

/** Applies the edits of a manifest (LevelDB's db/version_edit.cc) one after another. */
export function versionOf(edits: readonly Uint8Array[]): LevelVersion {
  const tables = new Map<number, number>();
  let logNumber = 0;
  for (const edit of edits) {
    const reader = new RecordReader(edit);
    while (!reader.isAtEnd) {
      const tag = reader.number();
      if (tag === NEW_TABLE) {
        reader.number();
        const number = reader.number();
        tables.set(number, reader.number());
        reader.sized();
        reader.sized();
      } else if (tag === DELETED_TABLE) {
        reader.number();
        tables.delete(reader.number());
      } else if (tag === LOG_NUMBER) {
        logNumber = reader.number();
      } else {
        skipField(reader, tag);
      }
    }
  }
  return { tables, logNumber };
}

const COMPARATOR = 1;
const LOG_NUMBER = 2;
const NEXT_FILE_NUMBER = 3;
const LAST_SEQUENCE = 4;
const COMPACT_POINTER = 5;
const DELETED_TABLE = 6;
const NEW_TABLE = 7;
const PREVIOUS_LOG_NUMBER = 9;

function skipField(reader: RecordReader, tag: number): void {
  switch (tag) {
    case COMPARATOR:
      reader.sized();
      return;
    case NEXT_FILE_NUMBER:
    case LAST_SEQUENCE:
    case PREVIOUS_LOG_NUMBER:
      reader.number();
      return;
    case COMPACT_POINTER:
      reader.number();
      reader.sized();
      return;
    default:
      assert(false, `a manifest of LevelDB has no field ${tag}`);
  }
}
