import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { aCertificateFor } from "../builders/tlsFiles.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems, folder, write } = settingsIn("ibex-besu-");

function textOf(file: string): string {
  return readFileSync(vectorPath("besu-core", "cli", file), "utf8");
}

describeWithVectors("Besu's own configuration files", () => {
  it("complete_config.toml starts when its genesis file exists", () => {
    const toml = textOf("complete_config.toml");
    expect(problems({ toml })).toEqual([
      "Unable to load genesis file. /opt/besu/genesis.json does not exist (--genesis-file is given as genesis-file in node.toml, line 29)",
    ]);
    const here = toml.replace("/opt/besu/genesis.json", DEV_GENESIS_FILE);
    expect(settings({ toml: here })).toMatchObject({
      dataPath: "/opt/besu",
      networkId: 42n,
      http: undefined,
      webSocket: undefined,
      warnings: [
        "rpc-http-host, rpc-http-port, rpc-http-api has been ignored because --rpc-http-enabled was not defined on the command line.",
        "rpc-ws-host, rpc-ws-port, rpc-ws-api has been ignored because --rpc-ws-enabled was not defined on the command line.",
        "graphql-http-host, graphql-http-port has been ignored because --graphql-http-enabled was not defined on the command line.",
        "metrics-host, metrics-port has been ignored because --metrics-enabled was not defined on the command line.",
        "--sync-mode=FAST is treated as FULL: this node executes every block.",
        "--sync-min-peers is ignored in FULL sync-mode",
        "Discovery disabled: bootnodes will be ignored.",
      ],
    });
  });

  it("no_bootnodes.toml starts with a genesis file from the command line", () => {
    const toml = textOf("no_bootnodes.toml");
    expect(problems({ toml })).toEqual([
      "A genesis file is required: name it with --genesis-file, or genesis-file in the configuration file.",
    ]);
    expect(settings({ toml, args: [DEV_GENESIS] }).isDevelopmentNetwork).toBe(false);
  });

  it("partial_config.toml is refused because it names a public network", () => {
    const toml = textOf("partial_config.toml");
    expect(problems({ toml })).toEqual([
      "--network=MAINNET cannot be run: the public networks are not IBFT 2.0 chains. A genesis file is required: name that of your network with --genesis-file, or give neither for the development network. (--network is given as network in node.toml, line 7)",
    ]);
    const without = toml.replace(/^network=.*$/m, "");
    expect(settings({ toml: without, args: [DEV_GENESIS] }).rpc.coinbase).toBeDefined();
  });

  it("everything_config.toml has no unknown key and no invalid value; its contradictions are named", () => {
    const toml = textOf("everything_config.toml");
    expect(problems({ toml })).toEqual([
      expect.stringMatching(/^--network option and --genesis-file option can't be used at the same time\. /),
      expect.stringMatching(/^--block-txs-selection-max-time can't be used with PoA networks/),
      expect.stringMatching(/^tx-pool-min-gas-price cannot be greater than the value of min-gas-price/),
      `Static nodes file ${folder}/~/besudata/static-nodes.json does not exist (--static-nodes-file is given as static-nodes-file in node.toml, line 18)`,
      `The certificate file ${folder}/root.cert of the ethstats server does not exist (--ethstats-cacert-file is given as ethstats-cacert-file in node.toml, line 212)`,
      `Unable to load genesis file. ${folder}/~/genesis.json does not exist (--genesis-file is given as genesis-file in node.toml, line 58)`,
    ]);
  });

  it("everything_config.toml is valid once it is consistent, with a warning for every option without effect", () => {
    const toml = textOf("everything_config.toml")
      .replace(/^(network|block-txs-selection-max-time)=.*$/gm, "")
      .replace("min-gas-price=1\n", "min-gas-price=1000\n")
      .replace("~/besudata/static-nodes.json", write("static.json", "[]"))
      .replace("~/genesis.json", DEV_GENESIS_FILE)
      .replace("./root.cert", aCertificateFor("ethstats").certificateFile)
      .replace(/^tx-pool-price-bump=.*$/m, "");
    expect(settings({ toml })).toMatchObject({
      networkId: 303n,
      rpc: { gasCap: 50_000_000n, maxLogsRange: 100n },
      blockProduction: { minGasPriceWei: 1000n, minOccupancyRatio: 0.7, targetGasLimit: 8_000_000n },
    });
    expect(settings({ toml }).clientVersion).toContain("/PegaSysEng/");
  });

  it.each(["Xp2p-tls-enabled", "privacy-enabled"])(
    "everything_config.toml with %s is refused with that name",
    (name) => {
      const toml = textOf("everything_config.toml").replace(`${name}=false`, `${name}=true`);
      expect(problems({ toml })).toContainEqual(
        expect.stringMatching(
          new RegExp(
            `^--${name}=true is refused: .* \\(--${name} is given as ${name} in node\\.toml, line \\d+\\)$`,
          ),
        ),
      );
    },
  );
});
