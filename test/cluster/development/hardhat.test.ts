import { beforeAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../../thorough.ts";
import { startNodeProcess } from "../harness/nodeProcess.ts";
import { type HardhatProject, openHardhatProject } from "./hardhatProject.ts";

/** The tests of ordinary projects for Hardhat, as they are, pass on `npm start`. */

/** Tests of both projects. */
const TESTS = 31;

describe.skipIf(!IS_THOROUGH)("two ordinary projects for Hardhat 2", () => {
  let project: HardhatProject | undefined;

  beforeAll(async () => {
    project = await openHardhatProject();
  });

  it("pass all their tests on the development network as it is shipped", async () => {
    if (project === undefined) return console.warn("skipped: no registry has the packages of Hardhat 2");
    const node = await startNodeProcess();
    const { output, exitCode } = await project.test(node.httpUrl);
    expect(output).toContain(`${TESTS} passing`);
    expect(exitCode).toBe(0);
    await node.stop();
  });

  it("are deployed with Ignition", async () => {
    if (project === undefined) return console.warn("skipped: no registry has the packages of Hardhat 2");
    const node = await startNodeProcess();
    const { output, exitCode } = await project.deploy(node.httpUrl);
    const address = /LockerModule#Locker - (0x[0-9a-fA-F]{40})/.exec(output)?.[1];
    expect(exitCode, output).toBe(0);
    expect(await node.rpc("eth_getBalance", [address, "latest"])).toBe("0x3e8");
    await node.stop();
  });
});
