import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "../../src/primitives/hex.ts";
import { curve } from "../../src/primitives/secp256k1.ts";
import { account } from "../builders/testAccounts.ts";
import { freePort, startNodeProcess, until } from "../cluster/harness/nodeProcess.ts";
import { type ParsedFamily, parseExposition } from "../observability/exposition.ts";

/** Every metric that a node can have, as a real one shows them: with peers, threads for callers and a remote signer. */
export async function allMetrics(): Promise<ReadonlyMap<string, ParsedFamily>> {
  const publicKey = toHex(curve.publicKey(account(0).privateKey));
  const node = await startNodeProcess({
    options: [
      "--metrics-enabled",
      "--metrics-port=0",
      "--p2p-enabled",
      `--p2p-port=${await freePort()}`,
      "--p2p-interface=127.0.0.1",
      "--discovery-enabled=false",
      "--rpc-threads=1",
      "--genesis-file=genesis/dev.json",
      "--rpc-http-enabled",
      "--validator-signer-url=http://127.0.0.1:9",
      `--validator-signer-public-key=${publicKey}`,
    ],
  });
  try {
    const port = await until(
      async () => /^metrics=(\d+)$/m.exec(portsIn(node.dataPath))?.[1],
      "the list of ports",
    );
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    return parseExposition(await response.text());
  } finally {
    await node.kill();
  }
}

function portsIn(dataPath: string): string {
  try {
    return readFileSync(join(dataPath, "besu.ports"), "utf8");
  } catch {
    return "";
  }
}
