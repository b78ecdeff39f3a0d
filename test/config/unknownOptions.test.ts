import { describe, expect, it } from "vitest";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems } = settingsIn("ibex-releases-");
const ADDED = "it was added after Besu 24.7.0";
const REMOVED = "it was removed before Besu 24.7.0";

describe("a name of another release", () => {
  it("is known on the command line, with any value or none", () => {
    const args = [
      DEV_GENESIS,
      "--pruning-enabled",
      "--cache-precompiles=true",
      "--Xrocksdb-max-open-files",
      "5",
    ];
    expect(settings({ args }).warnings).toEqual([
      `--pruning-enabled has no effect in this node: ${REMOVED} (given on the command line).`,
      `--cache-precompiles has no effect in this node: ${ADDED} (given on the command line).`,
      `--Xrocksdb-max-open-files has no effect in this node: ${REMOVED} (given on the command line).`,
    ]);
  });

  it("is known in a file and in the environment", () => {
    const toml =
      'snapsync-synchronizer-pre-merge-headers-only-enabled=true\nplugins-verification-mode="FULL"';
    const environment = { BESU_XLAUNCHER: "true", BESU_TX_POOL_MIN_SCORE: "5", BESU_PRUNING_ENABLED: "" };
    expect(settings({ args: [DEV_GENESIS], toml, environment }).warnings).toEqual([
      `--Xlauncher has no effect in this node: ${REMOVED} (given by the environment variable BESU_XLAUNCHER).`,
      `--tx-pool-min-score has no effect in this node: ${ADDED} (given by the environment variable BESU_TX_POOL_MIN_SCORE).`,
      `--snapsync-synchronizer-pre-merge-headers-only-enabled has no effect in this node: ${ADDED} (given as snapsync-synchronizer-pre-merge-headers-only-enabled in node.toml, line 1).`,
      `--plugins-verification-mode has no effect in this node: ${ADDED} (given as plugins-verification-mode in node.toml, line 2).`,
    ]);
  });

  it.each([
    ["rpc-ws-ssl-enabled", "this node has --rpc-ws-tls-enabled for it"],
    ["rpc-ws-ssl-client-auth-enabled", "this node has --rpc-ws-tls-client-auth-enabled for it"],
    ["graphql-tls-enabled", "this node has --graphql-http-tls-enabled for it"],
    ["graphql-mtls-enabled", "this node has --graphql-http-tls-client-auth-enabled for it"],
  ])("that is a security switch, %s, prevents the start only when on", (name, why) => {
    const reason = `is refused: ${why}`;
    expect(problems({ args: [DEV_GENESIS, `--${name}`] })).toEqual([
      `--${name}=true ${reason} (given on the command line)`,
    ]);
    expect(problems({ args: [DEV_GENESIS], toml: `${name}=true` })).toEqual([
      `--${name}=true ${reason} (given as ${name} in node.toml, line 1)`,
    ]);
    expect(settings({ args: [DEV_GENESIS, `--${name}=false`] }).warnings).toHaveLength(1);
  });
});
