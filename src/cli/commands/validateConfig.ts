import { EXIT } from "../exitCodes.ts";
import { validateConfig } from "../validateConfig.ts";
import { defineCommand } from "./command.ts";

export const VALIDATE_CONFIG = defineCommand({
  words: "validate-config",
  help: "Check a configuration file, and the genesis file it names.",
  nodeOptions: ["config-file"],
  run: async ({ given, world }) => {
    const { isValid, text } = validateConfig(given, world.workingDirectory);
    world.print(`${text}\n`);
    return isValid ? EXIT.ok : EXIT.badInput;
  },
});
