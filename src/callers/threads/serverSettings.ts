import type { Settings } from "../../config/settings.ts";
import type { ConnectionLimits } from "../../rpc/server/connectionLimits.ts";
import type { ThreadServerName } from "../../rpc/server/serverTable.ts";

/** The servers of threads; undefined for what is off, or on other threads. */
export type ServerSettings = { readonly [Name in ThreadServerName]?: Settings[Name] };

/** The settings of the named servers, each changed. */
export function mapServers(
  servers: ServerSettings,
  names: readonly ThreadServerName[],
  change: <Server extends ConnectionLimits>(server: Server) => Server,
): ServerSettings {
  const changed: { -readonly [Name in ThreadServerName]?: Settings[Name] } = {};
  const add = <Name extends ThreadServerName>(name: Name): void => {
    const { [name]: server } = servers;
    if (server !== undefined) changed[name] = change(server);
  };
  names.forEach(add);
  return changed;
}
