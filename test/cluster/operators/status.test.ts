import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, statSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { itIfThorough } from "../../thorough.ts";
import { freePort, runProgram, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";
import { prepareNetwork } from "../harness/validatorNetwork.ts";

async function ibex(...args: readonly string[]) {
  const program = runProgram(args);
  return { exitCode: await program.exit, output: program.output() };
}

const statusOf = (dataPath: string, ...args: readonly string[]) =>
  ibex(`--data-path=${dataPath}`, "status", ...args);

describe("ibex status", () => {
  itIfThorough("shows a node that is well, without any RPC, and ends with 2 when none runs", async () => {
    const dataPath = join(temporaryFolder(), "x".repeat(120));
    mkdirSync(dataPath);
    const node = await startNodeProcess({ dataPath });
    onTestFinished(node.kill);
    expect(statSync(join(dataPath, "status.sock")).mode & 0o777).toBe(0o600);
    const { hash } = await node.rpc<{ hash: string }>("eth_getBlockByNumber", ["0x0", false]);
    const shown = await until(async () => {
      const status = await statusOf(dataPath);
      return /validator, validating$/m.test(status.output) && /All is well\./.test(status.output)
        ? status
        : undefined;
    }, "the start of consensus, and that all is well");
    expect(shown.exitCode).toBe(0);
    expect(shown.output).toContain(`chain id 1337, genesis ${hash}`);
    // On a busy machine a block may be late for a moment, which is a finding.
    const { exitCode, report } = await until(async () => {
      const status = await statusOf(dataPath, "--json");
      const report = JSON.parse(status.output) as { readonly findings: readonly unknown[] };
      return report.findings.length === 0 ? { ...status, report } : undefined;
    }, "a report without findings");
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ processId: node.child.pid, consensus: { mode: "validating" } });
    // Killed, it leaves its socket, which the next start replaces.
    await node.kill();
    expect(await statusOf(dataPath)).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/^No node runs in/),
    });
    const again = await startNodeProcess({ dataPath, options: ["--rpc-threads=1"] });
    onTestFinished(again.kill);
    expect(await statusOf(dataPath)).toMatchObject({ exitCode: 0 });
    await again.stop();
    expect(await statusOf(dataPath)).toMatchObject({ exitCode: 2 });
  });

  itIfThorough("names who is missing, and why peers are not connected", async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 1 });
    onTestFinished(network.stopAll);
    const [first, second, third, fourth] = network.members;
    if (first === undefined || second === undefined || third === undefined || fourth === undefined)
      throw new Error();
    await Promise.all([first, second, third].map((member) => network.start(member)));
    const shown = await until(async () => {
      const status = await statusOf(first.dataPath);
      return /1 of 4 validators are not heard/.test(status.output) &&
        /nothing listens there/.test(status.output)
        ? status
        : undefined;
    }, "a status that names the missing validator");
    expect(shown.exitCode).toBe(0);
    expect(shown.output).toContain(
      `Warning: 1 of 4 validators are not heard from: ${toHex(fourth.key.address)}. 3 are, and 3 are needed for a block.`,
    );
    expect(shown.output).toMatch(/^Peers +2 of \d+, 1 named peer not connected/m);
    await third.node?.stop();
    const stalled = await until(async () => {
      const status = await statusOf(first.dataPath);
      return /Problem: There has been no new block for/.test(status.output) ? status : undefined;
    }, "a status that says that the chain has stalled");
    expect(stalled.exitCode).toBe(1);
  });

  itIfThorough("answers many who connect and read nothing, and the node goes on", async () => {
    const node = await startNodeProcess();
    onTestFinished(node.kill);
    const path = join(node.dataPath, "status.sock");
    const sockets = Array.from({ length: 200 }, () => createConnection(path));
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.pause();
      socket.write("x".repeat(100_000));
    }
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const height = Number(await node.rpc<string>("eth_blockNumber"));
    await until(
      async () => Number(await node.rpc<string>("eth_blockNumber")) > height + 1 || undefined,
      "further blocks",
    );
    // Those who do not read are left after some seconds.
    await until(async () => (await statusOf(node.dataPath)).exitCode === 0 || undefined, "an answer");
  });
});

describe("ibex doctor", () => {
  it("judges a running node that has no peers, finds each thing that is wrong with a stopped one, and says what to do", async () => {
    const network = await prepareNetwork({ validators: 2 });
    onTestFinished(network.stopAll);
    const [, member] = network.members;
    if (member === undefined) throw new Error();
    await network.start(member);
    const { dataPath } = member;
    const doctorSays = (...options: readonly string[]) =>
      ibex(`--data-path=${dataPath}`, `--genesis-file=${network.genesisFile}`, ...options, "doctor");
    const { exitCode, output } = await doctorSays();
    expect(exitCode).toBe(1);
    expect(output).toContain("Problem: The node has no peers. Name bootnodes (--bootnodes)");

    await network.stopAll();
    const port = await freePort();
    // Another program may have the default port.
    const doctor = async () => (await doctorSays(`--p2p-port=${await freePort()}`)).output;
    const healthy = await doctor();
    expect(healthy.match(/Problem/g)).toHaveLength(1);
    expect(healthy).toContain(`Problem: No node runs in ${dataPath}`);

    chmodSync(join(dataPath, "key"), 0o644);
    chmodSync(dataPath, 0o777);
    mkdirSync(join(dataPath, "backup-1.unfinished"));
    const server = spawn(process.execPath, [
      "-e",
      `require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("listening"))`,
    ]);
    onTestFinished(() => void server.kill());
    await new Promise((resolve) => server.stdout.once("data", resolve));
    const found = (
      await ibex(
        `--data-path=${dataPath}`,
        `--genesis-file=${network.genesisFile}`,
        "--rpc-http-enabled",
        `--rpc-http-port=${port}`,
        "--min-free-disk-mb=1000000000",
        "doctor",
      )
    ).output;
    expect(found).toContain(
      `Warning: Other users may read the node's private key ${join(dataPath, "key")}. chmod 600`,
    );
    expect(found).toContain(`Warning: Other users may write to the data folder ${dataPath}`);
    expect(found).toContain("backup-1.unfinished");
    expect(found).toMatch(/Problem: The node cannot listen on 127.0.0.1:\d+ \(--rpc-http-port\): EADDRINUSE/);
    expect(found).toMatch(/Problem: .* are free on the disk/);

    renameSync(join(dataPath, "key"), join(dataPath, "elsewhere"));
    expect(await doctor()).toContain(`the key file ${join(dataPath, "key")} is missing`);
    expect((await ibex(`--data-path=${join(dataPath, "not-there")}`, "doctor")).output).toContain(
      "does not exist",
    );
  });
});
