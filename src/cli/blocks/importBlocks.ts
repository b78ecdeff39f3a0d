import { stat } from "node:fs/promises";
import type { Logger } from "../../observability/logger.ts";
import { Progress } from "../../observability/progress.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { ImportChain } from "./importChain.ts";
import { type ImportErrorCode, type ImportRequest, type ImportResult, ImportRun } from "./importRun.ts";

/**
 * `ibex blocks import`: imports blocks one by one from files of concatenated RLP into the chain.
 *
 *     file ──> bytes ──> header ──┬─ known, outside the range ──> compared, skipped
 *                                 └─ new ──> decoded ──(a batch)──> headers checked ──> senders being recovered ──> imported
 *
 * While blocks are executed, the seals of a batch of headers and the senders behind them are recovered on worker threads.
 * The waiting blocks are bounded. The first invalid block ends the import; the blocks before it stay. The chain is the only
 * state: importing the same file again skips known blocks by hash and continues.
 */
export async function importBlocks(
  request: ImportRequest,
  importChain: ImportChain,
  logger: Logger,
): Promise<Result<ImportResult, ImportErrorCode>> {
  const measured = await measureFiles(request.files);
  if (!measured.ok) return measured;
  const sizes = measured.value;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const progress = new Progress({ message: "importing blocks", total }, logger);
  const run = new ImportRun(request, importChain, { progress, total });
  try {
    let before = 0;
    for (const [index, file] of request.files.entries()) {
      const result = await run.importFile(file.name, file.path, before);
      if (!result.ok) return result;
      before += sizes[index] ?? 0;
    }
  } finally {
    progress.end();
  }
  const { head } = importChain.chain;
  const [imported, transactions] = [progress.count("blocks"), progress.count("transactions")];
  const { seconds } = progress;
  const { skipped } = run;
  logger.info(
    { blocks: imported, transactions, seconds, skipped, number: head.header.number, hash: head.hash },
    request.isStopped() ? "import stopped" : "import finished",
  );
  return ok({ imported, skipped, wasStopped: request.isStopped() });
}

/** The bytes of each file. An error when one cannot be read: asked before a folder and a key are made for a misspelt name. */
export async function measureFiles(
  files: ImportRequest["files"],
): Promise<Result<readonly number[], "badFile">> {
  const sizes: number[] = [];
  for (const { name, path } of files) {
    const size = await sizeOf(path);
    if (size === undefined) return fail("caller", "badFile", `The file ${name} cannot be read.`);
    sizes.push(size);
  }
  return ok(sizes);
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const status = await stat(path);
    return status.isFile() ? status.size : undefined;
  } catch {
    return undefined;
  }
}
