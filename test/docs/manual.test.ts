import { spawn, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROGRAM, temporaryFolder } from "../cluster/harness/nodeProcess.ts";
import { HANG_MS } from "../hang.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { readDocument, root } from "./documents.ts";
import { isAsPrinted, type ShellBlock, shellBlocksOf } from "./manual.ts";

/** All of its blocks are run, in their order. */
const REHEARSAL = "docs/operating/rehearsal.md";

/** Why blocks of other pages are not run, by page: for all of them, or for those with these words. */
const NOT_RUN: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  "docs/operating/faucet.md":
    "test/cluster/operators/faucet.test.ts asks the faucet; a key takes xxd, which not every machine has",
  "docs/operating/permissioning.md":
    "test/cluster/operators/permissionContracts.test.ts starts nodes with these options",
  "docs/operating/access.md": "test/cluster/rpc/access.test.ts logs users in, also with curl",
  "docs/operating/alerts.md": "test/prometheus runs promtool on the same files",
  "docs/operating/backup.md":
    "the rehearsal backs up and restores; this block has the places of a real machine",
  "docs/operating/compare.md":
    "takes a node of Besu; test/cluster/operators/compare.test.ts compares two nodes",
  "docs/operating/deploying.md": {
    "scripts/debian.sh":
      "takes root; test/cluster/startup/package.test.ts makes the package and looks into it",
    "systemctl enable": "takes systemd; .ci/unit runs the unit",
    "--reference": "takes systemd and root; .ci/unit does it",
    "generate-blockchain-config":
      "the rehearsal makes a network; this block has the addresses of five machines",
    "docker compose": "takes Docker and the images of others; test/delivery/compose.test.ts checks the file",
  },
  "docs/operating/hand-over.md":
    "the rehearsal hands a validator over; these blocks have the places of two machines",
  "docs/operating/keys.md":
    "test/cli and test/cluster/validators/remoteSigner.test.ts do it; these blocks leave out what is the reader's",
  "docs/operating/kubernetes.md": "takes a cluster; test/delivery/kubernetes.test.ts checks the file",
  "docs/operating/explorer.md": "test/cluster/clients/verify.test.ts runs forge so, with other addresses",
  "docs/operating/logs.md": "takes systemd's journal",
  "docs/operating/proxies.md": {
    "haproxy -f": "test/cluster/rpc/manyCallers.test.ts starts HAProxy so, with other addresses",
    "install -D":
      "takes root and systemd; test/cluster/rpc/manyCallers.test.ts starts nginx with these files",
  },
};

const pages = readdirSync(join(root, "docs", "operating"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/operating/${name}`);
const blocks = pages.flatMap(shellBlocksOf);
const others = blocks.filter(({ page }) => page !== REHEARSAL);

function reasonFor({ page, code }: ShellBlock): string | undefined {
  const reasons = NOT_RUN[page] ?? {};
  if (typeof reasons === "string") return reasons;
  return Object.entries(reasons).find(([words]) => code.includes(words))?.[1];
}

describe("the manual", () => {
  it("has no block of commands that is neither run nor listed with a reason", () => {
    expect(others.length).toBeGreaterThan(5);
    expect(others.filter((block) => reasonFor(block) === undefined)).toEqual([]);
  });

  it("lists only blocks that are there", () => {
    const idle = Object.entries(NOT_RUN).flatMap(([page, reasons]) => {
      const own = others.filter((block) => block.page === page);
      if (typeof reasons === "string") return own.length === 0 ? [page] : [];
      return Object.keys(reasons).filter((words) => !own.some(({ code }) => code.includes(words)));
    });
    expect(idle).toEqual([]);
  });

  it("has only commands that bash can read", () => {
    for (const { page, code } of blocks) {
      const { stderr } = spawnSync("bash", ["-n"], { input: code, encoding: "utf8" });
      expect(stderr, `${page}:\n${code}`).toBe("");
    }
  });

  it("names every page of its folder in its index", () => {
    const index = readDocument("docs/operating/README.md");
    const missing = pages.filter(
      (page) => !page.endsWith("README.md") && !index.includes(`(${page.slice(15)}`),
    );
    expect(missing).toEqual([]);
  });
});

/**
 * A network namespace has free ports of its own, so that the blocks are run as they are written. What they need of the
 * system: root, or user namespaces, and the tools that the page names.
 */
const NAMESPACE = ["--net", ...(process.getuid?.() === 0 ? [] : ["--map-root-user", "--user"])];
const canRun =
  spawnSync("unshare", [...NAMESPACE, "ip", "link", "set", "lo", "up"]).status === 0 &&
  ["jq", "curl"].every((tool) => spawnSync(tool, ["--version"]).status === 0);
if (IS_THOROUGH && !canRun)
  console.warn(
    "SKIPPED: the rehearsal of the manual, which takes unshare, ip, jq and curl, and the right to use them",
  );

describe.skipIf(!IS_THOROUGH || !canRun)("the rehearsal", () => {
  it("goes through from its first to its last line, and prints what the page says", async () => {
    const outputs = await pasted(shellBlocksOf(REHEARSAL));
    for (const { block, output } of outputs) {
      const { code, printed } = block;
      if (printed !== undefined && !isAsPrinted(output, printed))
        expect.fail(`this block:\n\n${code}\nprinted:\n\n${output}\nand not:\n\n${printed}`);
    }
    expect(outputs).toHaveLength(shellBlocksOf(REHEARSAL).length);
  });
});

/** Not in what any command prints. */
const END_OF_BLOCK = "\u001e";

/** Pastes the blocks into one shell; the first one that fails is the last one returned, and named. */
async function pasted(
  all: readonly ShellBlock[],
): Promise<readonly { readonly block: ShellBlock; readonly output: string }[]> {
  const folder = temporaryFolder();
  const ibex = join(folder, "ibex");
  writeFileSync(ibex, `#!/bin/sh\nexec "${process.execPath}" --max-semi-space-size=64 "${PROGRAM}" "$@"\n`);
  chmodSync(ibex, 0o755);
  const work = temporaryFolder();
  const script = [
    "set -euo pipefail; exec 2>&1; ip link set lo up; trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
    ...all.map(({ code }) => `${code}\nprintf '${END_OF_BLOCK}'`),
  ].join("\n");
  const child = spawn("unshare", [...NAMESPACE, "bash", "--noprofile", "--norc", "-c", script], {
    cwd: work,
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, IBEX_FOLDER: root, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
  });
  const deadline = setTimeout(() => child.kill("SIGTERM"), LONGEST_MS);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(deadline);
  const outputs = text.split(END_OF_BLOCK);
  if (status !== 0)
    throw new Error(
      `block ${outputs.length} ended the shell:\n\n${all[outputs.length - 1]?.code}\n${outputs.at(-1)}`,
    );
  return all.map((block, index) => ({ block, output: outputs[index] ?? "" }));
}

const LONGEST_MS = 2 * HANG_MS;
