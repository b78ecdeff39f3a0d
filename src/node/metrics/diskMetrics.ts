import { statfs } from "node:fs/promises";
import type { Metrics } from "../../observability/registry.ts";
import { bytesInFolder } from "../../storage/folderBytes.ts";

/** Bounds how often sizes are read, because a large database has thousands of files. */
const REFRESH_SECONDS = 30;

/** Declares the free disk space of the data folder, and the size of the chain's database. */
export function declareDiskMetrics(
  metrics: Metrics,
  { dataPath, chain }: { readonly dataPath: string; readonly chain: string },
): void {
  if (!metrics.isEnabled("NODE")) return;
  let freeBytes = Number.NaN;
  let databaseBytes = Number.NaN;
  let readAtSeconds = Number.NEGATIVE_INFINITY;
  metrics.beforeRead(async () => {
    if (metrics.stopwatchSeconds() - readAtSeconds < REFRESH_SECONDS) return;
    readAtSeconds = metrics.stopwatchSeconds();
    const { bavail, bsize } = await statfs(dataPath);
    freeBytes = bavail * bsize;
    databaseBytes = await bytesInFolder(chain);
  });
  metrics.gauge(
    {
      category: "NODE",
      name: "disk_free_bytes",
      help: "Free bytes on the disk of the data folder",
    },
    () => freeBytes,
  );
  metrics.gauge(
    { category: "NODE", name: "db_size_bytes", help: "Size of the chain's database files" },
    () => databaseBytes,
  );
}
