import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems, folder, write } = settingsIn("ibex-permissions-");

const ACCOUNT = `0x${"ab".repeat(20)}`;
const NODE = `enode://${"12".repeat(64)}@127.0.0.1:30303`;
const NONE = new Uint8Array();
const ACCOUNTS_ON = "--permissions-accounts-config-file-enabled";
const NODES_ON = "--permissions-nodes-config-file-enabled";

describe("the allowlists", () => {
  it("are off by default, whatever the data folder contains", () => {
    write("permissions_config.toml", "nonsense");
    expect(settings({ args: [DEV_GENESIS, "--data-path=."] }).permissions).toMatchObject({
      accountsFile: undefined,
      nodesFile: undefined,
    });
  });

  it("are read from the data folder, or from the configured file", () => {
    write("permissions_config.toml", `accounts-allowlist=["${ACCOUNT}"]`);
    const args = [DEV_GENESIS, "--data-path=.", ACCOUNTS_ON];
    expect(settings({ args }).permissions.accountsFile).toBe(join(folder, "permissions_config.toml"));
    write("senders.toml", "accounts-allowlist=[]");
    const named = settings({ args: [...args, "--permissions-accounts-config-file=senders.toml"] });
    expect(named.permissions.accountsFile).toBe(join(folder, "senders.toml"));
    expect(named.warnings).toEqual([]);
  });

  it("prevent the start when they are invalid, with the file, the line and the value", () => {
    write("senders.toml", `accounts-allowlist=[\n"${ACCOUNT}",\n"0xfoo"\n]`);
    const named = "--permissions-accounts-config-file=senders.toml";
    expect(problems({ args: [DEV_GENESIS, ACCOUNTS_ON, named] })).toEqual([
      `Invalid account 0xfoo (accounts-allowlist in line 3 of ${join(folder, "senders.toml")}) (${named.split("=")[0]} is given on the command line)`,
    ]);
    expect(problems({ args: [DEV_GENESIS, "--data-path=absent", ACCOUNTS_ON] })).toEqual([
      expect.stringContaining(join(folder, "absent", "permissions_config.toml")),
    ]);
  });

  it("of nodes are read without a warning", () => {
    write("nodes.toml", `nodes-allowlist=["${NODE}"]`);
    const args = [DEV_GENESIS, NODES_ON, "--permissions-nodes-config-file=nodes.toml"];
    expect(settings({ args })).toMatchObject({
      permissions: { nodesFile: join(folder, "nodes.toml") },
      warnings: [],
    });
  });

  it("of nodes may have host names only when those are allowed", () => {
    write("nodes.toml", `nodes-allowlist=["${NODE.replace("127.0.0.1", "node.example")}"]`);
    const args = [DEV_GENESIS, NODES_ON, "--permissions-nodes-config-file=nodes.toml"];
    expect(problems({ args })).toEqual([expect.stringContaining("Invalid node enode://")]);
    expect(settings({ args: [...args, "--Xdns-enabled"] }).permissions.hostNames).toBe("known");
    const later = [...args, "--Xdns-enabled", "--Xdns-update-enabled"];
    expect(settings({ args: later }).permissions.hostNames).toBe("any");
  });

  it("of nodes by contract need an address, and have version 1 unless told otherwise", () => {
    const on = "--permissions-nodes-contract-enabled";
    expect(problems({ args: [DEV_GENESIS, on] })).toEqual([
      expect.stringContaining(
        "No node permissioning contract address specified. Cannot enable smart contract based node permissioning.",
      ),
    ]);
    const address = new Uint8Array(20).fill(0x12);
    const args = [DEV_GENESIS, on, `--permissions-nodes-contract-address=0x${"12".repeat(20)}`];
    expect(settings({ args }).permissions.nodeContract).toEqual({ address, version: 1 });
    const two = [...args, "--permissions-nodes-contract-version=2"];
    expect(settings({ args: two }).permissions.nodeContract).toEqual({ address, version: 2 });
    expect(problems({ args: [...args, "--permissions-nodes-contract-version=3"] })).toHaveLength(1);
    expect(settings({ args: [DEV_GENESIS] }).permissions.nodeContract).toBe(undefined);
  });

  it("by contract need an address of the contract, with Besu's message", () => {
    const on = "--permissions-accounts-contract-enabled";
    const address = `0x${"12".repeat(20)}`;
    expect(problems({ args: [DEV_GENESIS, on] })).toEqual([
      expect.stringContaining(
        "No account permissioning contract address specified. Cannot enable smart contract based account permissioning.",
      ),
    ]);
    const named = `--permissions-accounts-contract-address=${address}`;
    expect(toHex(settings({ args: [DEV_GENESIS, on, named] }).permissions.accountContract ?? NONE)).toBe(
      address,
    );
    const off = settings({ args: [DEV_GENESIS, named] });
    expect(off.permissions.accountContract).toBe(undefined);
    expect(off.warnings).toEqual([
      "permissions-accounts-contract-address has been ignored because --permissions-accounts-contract-enabled was not defined on the command line.",
    ]);
  });

  it("that are named but not enabled give a warning", () => {
    write("senders.toml", "accounts-allowlist=[]");
    const args = [DEV_GENESIS, "--permissions-accounts-config-file=senders.toml"];
    expect(settings({ args }).warnings).toEqual([
      "permissions-accounts-config-file has been ignored because --permissions-accounts-config-file-enabled was not defined on the command line.",
    ]);
  });
});
