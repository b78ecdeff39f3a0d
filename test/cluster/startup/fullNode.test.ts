import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_CANCUN_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { describeWithVectors, vectorPath } from "../../vectors.ts";
import { rpc, runProgram, temporaryFolder, until } from "../harness/nodeProcess.ts";

const ENODE = `enode://${"6f8a80d14311c39f35f516fa664deaaa".repeat(4)}@192.0.2.1:30303`;
/** Overrides the ports of the file, so that tests can run in parallel. */
const ANY_PORTS = ["--rpc-http-port=0", "--rpc-ws-port=0", "--p2p-port=0"];

/** Writes the genesis file of a chain with one validator. */
function writeNetwork(folder: string, chainId: number): void {
  const genesis = JSON.parse(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")) as { config: object };
  const text = JSON.stringify({ ...genesis, config: { ...genesis.config, chainId } });
  writeFileSync(join(folder, "mainnet.json"), text);
}

async function portsIn(dataPath: string): Promise<Record<string, number>> {
  const file = join(dataPath, "besu.ports");
  const text = await until(
    async () => (existsSync(file) ? readFileSync(file, "utf8") : undefined),
    "the list of ports",
  );
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => [line.split("=")[0] ?? "", Number(line.split("=")[1])]),
  );
}

describe("the configuration of the interface document, as TOML", () => {
  it("starts a node unchanged, which answers requests and produces blocks", async () => {
    const folder = temporaryFolder();
    const dataPath = join(folder, "data");
    writeNetwork(folder, 7171);
    writeFileSync(
      join(folder, "config.toml"),
      `
bootnodes=["${ENODE}", "${ENODE}", "${ENODE}", "${ENODE}"]
genesis-file="${join(folder, "mainnet.json")}"
data-path="${dataPath}"
rpc-http-enabled=true
rpc-ws-enabled=true
host-allowlist=["*"]
sync-mode="FULL"
rpc-http-host="127.0.0.1"
rpc-ws-host="127.0.0.1"
rpc-http-cors-origins=["all"]
poa-block-txs-selection-max-time=100
rpc-http-max-active-connections=1000
data-storage-format="FOREST"
rpc-http-api=["ETH", "NET", "WEB3", "TXPOOL", "TRACE"]
rpc-ws-api=["ETH", "NET", "WEB3", "TXPOOL", "TRACE"]
`,
    );
    const program = runProgram([
      `--config-file=${join(folder, "config.toml")}`,
      `--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`,
      ...ANY_PORTS,
    ]);
    const url = `http://127.0.0.1:${(await portsIn(dataPath))["json-rpc"]}`;
    expect(await rpc(url, "eth_gasPrice", [])).toBe("0x3e8");
    expect(await rpc(url, "eth_chainId", [])).toBe("0x1c03");
    await until(
      async () => (Number(await rpc<string>(url, "eth_blockNumber", [])) >= 1 ? true : undefined),
      "a block",
    );
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
    const warnings = program
      .output()
      .split("\n")
      .filter((line) => line.includes('"level":"WARN"'))
      // Nothing listens at its bootnode, which a node says that runs for long enough.
      .filter((line) => !line.includes("no connection to"));
    expect(warnings).toEqual([]);
  });
});

describeWithVectors("Besu's complete_config.toml", () => {
  it("starts a node after its two paths are replaced", async () => {
    const folder = temporaryFolder();
    writeNetwork(folder, 42);
    const toml = readFileSync(vectorPath("besu-core", "cli", "complete_config.toml"), "utf8")
      .replace("/opt/besu/genesis.json", join(folder, "mainnet.json"))
      .replace('"/opt/besu"', `"${join(folder, "data")}"`);
    writeFileSync(join(folder, "config.toml"), toml);
    const program = runProgram([`--config-file=${join(folder, "config.toml")}`]);
    await until(
      async () => (program.output().includes("Ethereum main loop is up.") ? true : undefined),
      "the start",
    );
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
  });
});
