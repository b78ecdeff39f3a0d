import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Metrics } from "../../observability/registry.ts";

/** Looked at no more often: a large database has thousands of files. */
const REFRESH_SECONDS = 30;

/** Room left for the data folder, and what the chain's database takes of it. */
export function declareDiskMetrics(
  metrics: Metrics,
  { dataPath, chain }: { readonly dataPath: string; readonly chain: string },
): void {
  if (!metrics.isEnabled("NODE")) return;
  let freeBytes = Number.NaN;
  let databaseBytes = Number.NaN;
  let lookedAt = Number.NEGATIVE_INFINITY;
  metrics.beforeRead(async () => {
    if (metrics.stopwatchSeconds() - lookedAt < REFRESH_SECONDS) return;
    lookedAt = metrics.stopwatchSeconds();
    const { bavail, bsize } = await statfs(dataPath);
    freeBytes = bavail * bsize;
    databaseBytes = await bytesIn(chain);
  });
  metrics.gauge(
    {
      category: "NODE",
      name: "disk_free_bytes",
      help: "Bytes that this user may still write to the data folder",
    },
    () => freeBytes,
  );
  metrics.gauge(
    { category: "NODE", name: "db_size_bytes", help: "Bytes of the files of the chain's database" },
    () => databaseBytes,
  );
}

/** LevelDB may remove a file at any time; that one counts for nothing. One after another, to leave others their turn. */
async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder)) {
    sum += await stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return sum;
}
