from examples.provider.serve import main

main()
