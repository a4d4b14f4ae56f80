class Hookctl < Formula
  desc "@description@"
  homepage "@repository@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      # if aarch64-apple-darwin
      url "@release@/hookctl-@version@-aarch64-apple-darwin.tar.gz"
      sha256 "@sha256:aarch64-apple-darwin@"
      # end
    end
    on_intel do
      # if x86_64-apple-darwin
      url "@release@/hookctl-@version@-x86_64-apple-darwin.tar.gz"
      sha256 "@sha256:x86_64-apple-darwin@"
      # end
    end
  end

  on_linux do
    on_arm do
      # if aarch64-unknown-linux-musl
      url "@release@/hookctl-@version@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@sha256:aarch64-unknown-linux-musl@"
      # end
    end
    on_intel do
      # if x86_64-unknown-linux-musl
      url "@release@/hookctl-@version@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@sha256:x86_64-unknown-linux-musl@"
      # end
    end
  end

  def install
    bin.install "hookctl"
    man1.install "man/hookctl.1"
    bash_completion.install "completions/hookctl.bash" => "hookctl"
    fish_completion.install "completions/hookctl.fish"
    zsh_completion.install "completions/_hookctl"
  end

  def caveats
    <<~EOS
      Nothing is on guard yet. To write the hook entries of your agents:
        hookctl install
      Before `brew uninstall`: `hookctl uninstall`.
    EOS
  end

  test do
    event = '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}'
    assert_match '"deny"', pipe_output("#{bin}/hookctl hook --agent claude", event)
  end
end
