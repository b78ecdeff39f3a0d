import type { Metrics } from "../../observability/registry.ts";
import type { ReadDiskUse } from "../dataFolder/diskUse.ts";

/** Declares the free disk space of the data folder, and the size of the chain's database. */
export function declareDiskMetrics(metrics: Metrics, readDiskUse: ReadDiskUse): void {
  if (!metrics.isEnabled("NODE")) return;
  let freeBytes = Number.NaN;
  let databaseBytes = Number.NaN;
  metrics.beforeRead(async () => {
    const use = await readDiskUse();
    freeBytes = use.freeBytes ?? Number.NaN;
    databaseBytes = use.databaseBytes;
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
