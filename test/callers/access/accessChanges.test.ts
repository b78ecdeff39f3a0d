import { describe, expect, it } from "vitest";
import { accessChanges } from "../../../src/callers/access/accessChanges.ts";
import { DEV_GENESIS, settingsIn } from "../../config/settingsIn.ts";

const { settings, write } = settingsIn("ibex-access-");

/** Users as a file of credentials has them, by their names and permissions. */
function usersFile(users: Readonly<Record<string, string>>): string {
  const hash = `$2a$10$${"x".repeat(53)}`;
  const tables = Object.entries(users).map(
    ([name, permission]) => `[Users.${name}]\npassword = "${hash}"\npermissions = ["${permission}"]\n`,
  );
  return write("users.toml", tables.join(""));
}

const HTTP = [DEV_GENESIS, "--rpc-http-enabled", "--rpc-ws-enabled"];

describe("the changes of who may call", () => {
  it("are none when nothing was changed", () => {
    expect(accessChanges(settings({ args: HTTP }), settings({ args: HTTP }))).toEqual([]);
  });

  it("name each list that changed, with what it was", () => {
    const before = settings({ args: [...HTTP, "--rpc-http-api=ETH,NET"] });
    const now = settings({
      args: [...HTTP, "--rpc-http-api=ETH", "--rpc-http-cors-origins=https://a.example"],
    });
    expect(accessChanges(now, before)).toEqual([
      "rpc-http-api=ETH (was ETH,NET)",
      "rpc-http-cors-origins=https://a.example (was none)",
    ]);
  });

  it("count users who came, went and changed, without a name", () => {
    const withUsers = (users: Readonly<Record<string, string>>) =>
      settings({
        args: [
          ...[DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-authentication-enabled"],
          `--rpc-http-authentication-credentials-file=${usersFile(users)}`,
        ],
      });
    const before = withUsers({ alice: "eth:*", bob: "net:*", carol: "eth:*" });
    const now = withUsers({ alice: "eth:*", bob: "eth:*", dave: "eth:*" });
    expect(accessChanges(now, before)).toEqual(["rpc-http users: 1 added, 1 removed, 1 changed"]);
  });
});
