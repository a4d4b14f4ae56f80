// managed-by: hookctl (do not edit; remove with `hookctl uninstall --agent opencode`)
const COMMAND = ["hookctl", "hook", "--agent", "opencode"];
export const Hookctl = async () => ({});
