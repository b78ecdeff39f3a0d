import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeText } from "../../parameters/parameters.ts";
import { TEXT } from "../../schemas.ts";

export const pluginsReloadPluginConfig = defineMethod({
  name: "plugins_reloadPluginConfig",
  namespace: "PLUGINS",
  alsoIn: ["ADMIN"],
  summary: "Always refused: there are no plugins.",
  parameters: [required("plugin", decodeText, TEXT)],
  result: { name: "success", schema: TEXT },
  run: () => ERRORS.pluginNotFound,
});
