# A stand-in for brew, for where there is none: runs a formula's own steps from archives that lie in a directory.
#   ruby brew.rb install|test|uninstall FORMULA DIST PREFIX TARGET
require "digest"
require "fileutils"
require "open3"
require "pathname"

COMMAND, FORMULA, DIST, PREFIX, TARGET = ARGV
ARM = TARGET.start_with?("aarch64")
MACOS = TARGET.end_with?("darwin")

class Place < Pathname
  def install(files)
    files = { files => File.basename(files) } unless files.is_a?(Hash)
    mkpath
    files.each { |from, to| FileUtils.mv(from, self / to) }
  end
end

class Formula
  class << self
    attr_reader :facts, :test_block

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |value = nil| value ? ((@facts ||= {})[name] = value) : @facts[name] }
    end
    def on_macos = MACOS && yield
    def on_linux = MACOS || yield
    def on_arm = ARM && yield
    def on_intel = ARM || yield
    def test(&block) = @test_block = block
    def inherited(formula) = Formula.instance_variable_set(:@last, formula)
    def last = @last
  end

  def version = self.class.version
  def keg = Place.new(PREFIX) / "Cellar/hookctl" / version
  def bin = Place.new(keg / "bin")
  def man1 = Place.new(keg / "share/man/man1")
  def bash_completion = Place.new(keg / "etc/bash_completion.d")
  def fish_completion = Place.new(keg / "share/fish/vendor_completions.d")
  def zsh_completion = Place.new(keg / "share/zsh/site-functions")

  def pipe_output(command, input) = Open3.capture2(command.sub(bin.to_s, "'#{bin}'").gsub("''", "'").then { |text| text.sub("'#{bin}'/hookctl", "'#{bin}/hookctl'") }, stdin_data: input).first
  def assert_match(wanted, text) = text.include?(wanted) || abort("no #{wanted} in #{text}")
end

load FORMULA
formula = Formula.last.new
facts = Formula.last.facts
opt = Pathname(PREFIX) / "opt/hookctl"
link = Pathname(PREFIX) / "bin/hookctl"

case COMMAND
when "install"
  archive = File.join(DIST, File.basename(facts[:url]))
  found = Digest::SHA256.file(archive).hexdigest
  found == facts[:sha256] || abort("#{archive}: expected #{facts[:sha256]}, found #{found}")
  build = File.join(PREFIX, "build")
  FileUtils.mkdir_p(build)
  system("tar", "-xzf", archive, "-C", build) || abort("cannot unpack")
  Dir.chdir(Dir.children(build).map { |one| File.join(build, one) }.first) { formula.install }
  FileUtils.rm_rf(build)
  # As brew does: links to this version, then the one before goes.
  [opt, link].each { |one| FileUtils.mkdir_p(one.dirname); FileUtils.rm_f(one) }
  FileUtils.ln_s(formula.keg, opt)
  FileUtils.ln_s("../opt/hookctl/bin/hookctl", link)
  formula.keg.dirname.children.each { |one| FileUtils.rm_rf(one) if one != formula.keg }
when "test"
  formula.instance_eval(&Formula.last.test_block)
when "uninstall"
  FileUtils.rm_f([opt, link])
  FileUtils.rm_rf(formula.keg)
end
