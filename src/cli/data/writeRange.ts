import { BadAnswer } from "./answers.ts";
import type { ExportFolder } from "./exportFolder.ts";
import type { ExportProgress } from "./exportProgress.ts";
import { type Naming, pathOf } from "./fileNames.ts";
import type { TableFile, TableFileRequest } from "./files/tableFile.ts";
import { type BlockSource, blocksOf } from "./nodeBlocks.ts";
import type { Range } from "./ranges.ts";
import type { DoneRange } from "./record.ts";
import type { BlockData } from "./tables/blockData.ts";
import type { Table } from "./tables/table.ts";

export interface RangeWriter {
  readonly tables: readonly Table[];
  readonly naming: Naming;
  readonly folder: ExportFolder;
  readonly source: BlockSource;
  readonly progress: ExportProgress;
  createFile(request: TableFileRequest): TableFile;
}

/**
 * Writes the files of a range of blocks, and adds it to the folder. `parentHash` is the hash of the previous block, if
 * known. Throws as blocksOf does, and errors of the file system; the range is then absent.
 */
export async function writeRange(
  range: Range,
  parentHash: string | undefined,
  { tables, naming, folder, source, progress, createFile }: RangeWriter,
): Promise<DoneRange> {
  const open: { readonly table: Table; readonly path: string; readonly file: TableFile }[] = [];
  try {
    for (const table of tables) {
      const path = pathOf(table.name, range, naming);
      const { columns } = table;
      const file = createFile({ path: folder.partPath(path), columns, compression: naming.compression });
      open.push({ table, path, file });
    }
    let lastHash = "";
    for await (const data of blocksOf(range, parentHash, source)) {
      let rows = 0;
      for (const { table, file } of open) rows += addRows(table, data, file);
      lastHash = data.hash;
      progress.advance(data.number, rows);
    }
    const files = open.map(({ table, path, file }) => ({ path, table: table.name, ...file.finish() }));
    const done: DoneRange = { ...range, lastHash, files };
    folder.add(done);
    progress.finish(done);
    return done;
  } finally {
    for (const { file } of open) file.abandon();
  }
}

function addRows(table: Table, data: BlockData, file: TableFile): number {
  let rows = 0;
  try {
    for (const row of table.rowsOf(data)) {
      file.add(row);
      rows++;
    }
    return rows;
  } catch (error) {
    if (!(error instanceof BadAnswer)) throw error;
    throw new BadAnswer(`${table.name} of block ${data.number}: ${error.message}`);
  }
}
