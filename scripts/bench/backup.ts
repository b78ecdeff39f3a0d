import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IBEX } from "./contenders.ts";
import { type LoggedBlock, startValidators } from "./network.ts";
import { atQuantile } from "./report.ts";
import { measureThroughput } from "./throughput.ts";

/** A block period is one second. */
const LATE_SECONDS = 1.2;
const WARM_UP_SECONDS = 10;

/**
 * Whether backups of a running validator make its blocks late: transfers at a rate to a sole validator, for `seconds` without
 * backups, then as long with one backup after another, then without again.
 */
export async function measureBackup(seconds: number, rate: number): Promise<void> {
  const network = await startValidators(1);
  const backups = mkdtempSync(join(tmpdir(), "ibex-backups-"));
  try {
    const [node] = network.nodes;
    if (node?.dataPath === undefined) throw new Error("no validator");
    const { dataPath } = node;
    const load = (lasting: number): Promise<unknown> =>
      measureThroughput(node, "transfers", lasting, rate * 2, rate);
    await load(WARM_UP_SECONDS);
    for (const isBackedUp of [false, true, false]) {
      const since = Date.now();
      let isLoaded = true;
      const loaded = load(seconds).finally(() => {
        isLoaded = false;
      });
      let made = 0;
      let output = "";
      while (isBackedUp && isLoaded) {
        output = await backUp(dataPath, backups);
        made++;
      }
      await loaded;
      console.log(
        `\n${rate} transfers a second for ${seconds} s, ${isBackedUp ? `${made} backups one after another` : "no backup"}`,
      );
      if (isBackedUp) console.log(`the last one of ${readdirSync(backups).length} that are kept:\n${output}`);
      printSpacing(network.blocks(0).filter(({ atMs }) => atMs > since));
    }
  } finally {
    await network.stop();
    rmSync(backups, { recursive: true, force: true });
  }
}

/** Resolves to what the command printed. */
function backUp(dataPath: string, to: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [IBEX, `--data-path=${dataPath}`, "backup", `--to=${to}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (bytes) => {
      output += bytes;
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`exit code ${code}: ${output}`)),
    );
  });
}

function printSpacing(blocks: readonly LoggedBlock[]): void {
  const spacing = blocks.slice(1).map(({ atMs }, index) => (atMs - (blocks[index]?.atMs ?? 0)) / 1000);
  const [p50, p95, p99, longest] = [0.5, 0.95, 0.99, 1].map((quantile) =>
    atQuantile(spacing, quantile).toFixed(3),
  );
  const late = spacing.filter((each) => each > LATE_SECONDS).length;
  console.log(
    `from block to block: p50 ${p50} s, p95 ${p95} s, p99 ${p99} s, longest ${longest} s of ${spacing.length}; ` +
      `more than ${LATE_SECONDS} s: ${late}; rounds after the first: ${blocks.filter(({ round }) => round > 0).length}`,
  );
}
